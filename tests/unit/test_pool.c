/* The executor's workers and the clients that wait for them: every index is done once, and nobody sleeps for good. The
   client's side is the ring's own; here a thread takes entries as the executor does, and runs a loop for each. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/executor/run/fault.h"
#include "daemon/executor/run/pool.h"
#include "fusiond/status.h"
#include "proto/ring_wait.h"

enum {
    MOST_INDICES = 4096,
    CLIENTS = 3,
    PATIENCE_MS = 20000, /* who sleeps that long was not woken */
    SPIN_NS = 20000,
};

/* Its stack is for kernels that fault; ours do not. */
void fault_thread_init(void) {}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void spin(uint64_t ns)
{
    for (uint64_t end = now_ns() + ns; now_ns() < end;) continue;
}

static struct ring *new_ring(void)
{
    struct ring *r = aligned_alloc(64, (ring_total_bytes() + 63) / 64 * 64);
    memset(r, 0, ring_total_bytes());
    ring_init(r);
    return r;
}

/* A number in 0 ... most, small ones as often as large ones. */
static uint64_t some(unsigned *seed, uint64_t most)
{
    uint64_t n = (uint64_t)rand_r(seed) % (most + 1);
    return n >> rand_r(seed) % 12;
}

/* ---- loops ---- */

struct loop {
    uint64_t total, index_ns;
    uint8_t done[MOST_INDICES];
    _Atomic unsigned helped; /* indices that workers did */
};

static void body(void *data, uint64_t first, uint64_t end, unsigned thread)
{
    struct loop *l = data;
    for (uint64_t i = first; i < end; i++) l->done[i]++;
    if (l->index_ns) spin((end - first) * l->index_ns);
    if (thread) atomic_fetch_add(&l->helped, (unsigned)(end - first));
}

static bool each_once(const struct loop *l)
{
    for (uint64_t i = 0; i < l->total; i++)
        if (l->done[i] != 1) return false;
    return true;
}

/* What is expected may be far from what it takes. */
static bool run_some_loop(struct pool *pool, struct loop *l, unsigned *seed)
{
    memset(l->done, 0, sizeof l->done);
    l->total = 1 + some(seed, MOST_INDICES - 1);
    l->index_ns = some(seed, 40000) / l->total;
    uint64_t expected = rand_r(seed) % 4 ? l->total * l->index_ns : some(seed, 400000);
    uint64_t took = pool_run(pool, body, l, l->total, expected);
    return each_once(l) && took >= l->total * l->index_ns / 2;
}

static void test_every_index_once(void **state)
{
    (void)state;
    static struct loop l;
    static struct pool *pools[6]; /* they live as long as the process */
    unsigned seed = 1;
    for (unsigned threads = 1; threads <= 5; threads++) {
        pools[threads] = pool_new(threads, new_ring());
        for (int i = 0; i < 3000; i++) {
            if (!run_some_loop(pools[threads], &l, &seed)) fail_msg("%u threads, loop %d", threads, i);
            if (rand_r(&seed) % 64 == 0) usleep(rand_r(&seed) % 200);
        }
    }
}

/* ---- clients ---- */

struct session {
    struct ring *ring;
    struct pool *pool;
    pthread_mutex_t lock; /* of those who push */
    uint64_t next, last;  /* the next sequence; the last that there is */
    unsigned helped;      /* indices that workers did */
    _Atomic bool wrong;
};

static void *execute(void *data)
{
    static uint8_t entry[RING_MAX_ENTRY];
    static struct loop l;
    struct session *s = data;
    const char *reason = "";
    unsigned seed = 2;
    for (uint64_t done = 0; done < s->last;) {
        if (!ring_pop(s->ring, entry, &reason)) {
            ring_wait_entry(s->ring, ring_entry_bell(s->ring), SPIN_NS, PATIENCE_MS);
            continue;
        }
        if (!run_some_loop(s->pool, &l, &seed)) s->wrong = true;
        ring_complete(s->ring, ++done, FUSION_SUCCESS, 0, "", "");
    }
    s->helped = l.helped;
    return NULL;
}

static bool push_next(struct session *s, uint64_t *sequence)
{
    pthread_mutex_lock(&s->lock);
    bool there = s->next <= s->last;
    if (there) {
        struct ring_entry entry = {.sequence = *sequence = s->next++};
        there = ring_push(s->ring, &entry, NULL, 0); /* there is room: each client has one on the way */
    }
    pthread_mutex_unlock(&s->lock);
    return there;
}

static void *submit_and_wait(void *data)
{
    struct session *s = data;
    unsigned seed = (unsigned)(uintptr_t)&seed;
    for (uint64_t sequence; push_next(s, &sequence);) {
        uint64_t began = now_ns();
        if (rand_r(&seed) % 16 == 0) spin(some(&seed, 60000));
        if (!ring_wait(s->ring, sequence, PATIENCE_MS)) s->wrong = true;
        if (now_ns() - began > PATIENCE_MS * UINT64_C(500000)) s->wrong = true;
        if (rand_r(&seed) % 32 == 0) usleep(rand_r(&seed) % 100);
    }
    return NULL;
}

/* Clients wait for each other's workers, lend their processors and get them back, whatever meets whatever. */
static unsigned run_clients(unsigned clients, unsigned threads, uint64_t submissions)
{
    struct ring *ring = new_ring();
    struct session s = {ring, pool_new(threads, ring), PTHREAD_MUTEX_INITIALIZER, 1, submissions, 0, false};
    pthread_t executor, client[CLIENTS];
    assert_int_equal(pthread_create(&executor, NULL, execute, &s), 0);
    for (unsigned i = 0; i < clients; i++) assert_int_equal(pthread_create(&client[i], NULL, submit_and_wait, &s), 0);
    for (unsigned i = 0; i < clients; i++) pthread_join(client[i], NULL);
    pthread_join(executor, NULL);
    assert_false(s.wrong);
    return s.helped;
}

static void test_nobody_sleeps_for_good(void **state)
{
    (void)state;
    cpu_set_t before;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    unsigned helped = run_clients(1, 2, 20000) + run_clients(CLIENTS, 4, 20000);
    if (CPU_COUNT(&before) > 1) assert_true(helped > 0);
}

/* The worst place for those who spin. */
static void test_on_one_processor(void **state)
{
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    run_clients(1, 2, 3000);
    run_clients(CLIENTS, 3, 3000);
    sched_setaffinity(0, sizeof before, &before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_index_once),
        cmocka_unit_test(test_nobody_sleeps_for_good),
        cmocka_unit_test(test_on_one_processor),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
