/* The worker threads. They live as long as the process. */
#include "daemon/executor/run/pool.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>

#include "daemon/executor/run/fault.h"
#include "daemon/executor/run/place.h"
#include "daemon/executor/run/wait.h"
#include "proto/ring_wait.h"

enum {
    SPIN_NS = 30000,         /* a worker looks for the next loop that long before it sleeps */
    SHARE_AWAKE_NS = 3000,   /* from here on it pays to share a loop with a worker that is awake, */
    SHARE_CALLED_NS = 10000, /* with one that the waiting client wakes, */
    SHARE_WOKEN_NS = 20000,  /* and with one that the caller has to wake */
    LONG_NS = 200000,        /* so long that it pays to move a thread to another processor */
    GIVE_BACK_NS = 3500,     /* before the end: a borrowed processor goes back, so that its client is there in time */
    LEAST_CHUNK_NS = 400,    /* so that sharing out costs little */
    MOST_CHUNK_NS = 2000,    /* of a short loop; of a long one: */
    CHUNKS_PER_THREAD = 32,  /* work-items may differ a lot in what they take: the last chunk should be small */
    CHUNKS_ALONE = 8,        /* of a loop that runs on the caller's thread alone, */
    TURN_NS = 3000,          /* and is so long that its memory may not fit the first cache */
};

struct worker {
    struct pool *pool;
    unsigned index; /* 1 ... ; 0 is the caller of pool_run() */
};

/* Sizes of a loop, as numbers of indices. */
struct share {
    uint64_t total, least, most, give_back;
    unsigned threads;
    bool is_long;
};

struct pool {
    unsigned threads;
    struct worker *workers;
    struct ring *ring;
    /* the loop; written while the gate is closed and no worker is inside */
    pool_body *body;
    void *data;
    struct share share;
    bool (*stops)(uint64_t number);
    uint64_t number;
    /* The caller takes its chunks from the front, in order, and workers take theirs from the back: where a loop runs
       again each finds what it touched in the caches of its processor. */
    alignas(64) _Atomic uint64_t taken; /* by both */
    _Atomic uint64_t back;              /* by workers */
    _Atomic uint64_t busy_ns;
    /* bit 0: open, workers may come in; above it: how many are inside */
    alignas(64) _Atomic uint32_t gate;
    _Atomic uint32_t owner_sleeps;
    alignas(64) _Atomic uint32_t epoch; /* counts loops; idle workers watch it */
    _Atomic uint32_t idle;              /* workers that do not even watch it, */
    _Atomic uint32_t asleep;            /* and those among them who have to be woken */
    bool backwards;                     /* the next loop of the caller alone */
};

enum { GATE_OPEN = 1, GATE_WORKER = 2 };

/* ---- chunks ---- */

static uint64_t at_least(uint64_t n, uint64_t least)
{
    return n > least ? n : least;
}

static struct share share_out(uint64_t total, uint64_t expected_ns, unsigned threads)
{
    double per_ns = (double)total / (double)expected_ns;
    uint64_t least = at_least((uint64_t)(per_ns * LEAST_CHUNK_NS), 1);
    uint64_t most = at_least((uint64_t)(per_ns * MOST_CHUNK_NS), total / (threads * CHUNKS_PER_THREAD));
    return (struct share){
        total, least, at_least(most, least), (uint64_t)(per_ns * GIVE_BACK_NS), threads, expected_ns >= LONG_NS};
}

static bool is_stopped(const struct pool *p)
{
    return p->stops && p->stops(p->number);
}

/* Takes n indices: a fair part of what is left. 0: nothing is. */
static uint64_t take(struct pool *p)
{
    uint64_t taken = atomic_load_explicit(&p->taken, memory_order_relaxed), total = p->share.total;
    if (taken >= total || is_stopped(p)) return 0;
    uint64_t n = at_least((total - taken) / p->share.threads, p->share.least);
    if (n > p->share.most) n = p->share.most;
    taken = atomic_fetch_add_explicit(&p->taken, n, memory_order_relaxed);
    if (taken >= total) return 0;
    return n < total - taken ? n : total - taken;
}

static void work_from_front(struct pool *p)
{
    uint64_t first = 0;
    for (uint64_t n; (n = take(p)); first += n) p->body(p->data, first, first + n, 0);
}

static void work_from_back(struct pool *p, unsigned thread, bool borrowed)
{
    uint64_t total = p->share.total, keep = borrowed ? p->share.give_back : 0, n;
    while (atomic_load_explicit(&p->taken, memory_order_relaxed) + keep < total && (n = take(p))) {
        uint64_t first = total - atomic_fetch_add_explicit(&p->back, n, memory_order_relaxed) - n;
        p->body(p->data, first, first + n, thread);
    }
}

/* ---- workers ---- */

static bool enter(struct pool *p)
{
    uint32_t gate = atomic_load_explicit(&p->gate, memory_order_acquire);
    while (gate & GATE_OPEN)
        if (atomic_compare_exchange_weak(&p->gate, &gate, gate + GATE_WORKER)) return true;
    return false;
}

static void leave(struct pool *p)
{
    bool last = atomic_fetch_sub(&p->gate, GATE_WORKER) == GATE_WORKER; /* closed, and nobody else inside */
    if (last && atomic_load(&p->owner_sleeps)) wait_wake(&p->gate, 1);
}

/* On the caller's own processor a worker only holds it up. */
static bool has_place(const struct pool *p)
{
    bool shares = ring_on_executor_cpu(p->ring);
    if (shares && p->share.is_long) place_move();
    return place_is_own(shares) || p->share.is_long;
}

static void help(struct pool *p, unsigned thread)
{
    if (!has_place(p)) return;
    uint64_t began = wait_now_ns();
    work_from_back(p, thread, ring_on_client_cpu(p->ring));
    atomic_fetch_add_explicit(&p->busy_ns, wait_now_ns() - began, memory_order_relaxed);
}

/* Spins until there is another loop, for a moment, and not where the client wants to run. */
static bool spin_for_loop(struct pool *p, uint32_t seen)
{
    uint64_t end = wait_now_ns() + SPIN_NS;
    while (!ring_on_client_cpu(p->ring) && wait_now_ns() < end)
        for (int i = 0; i < 32; i++) {
            if (atomic_load_explicit(&p->epoch, memory_order_acquire) != seen) return true;
            wait_relax();
        }
    return false;
}

/* Before its look at the epoch it counts itself, so that either it sees a new loop, or that loop's caller sees it. */
static void sleep_until_called(struct pool *p, uint32_t seen)
{
    atomic_fetch_add(&p->idle, 1); /* first: who gets his processor back may take it at once */
    if (ring_on_client_cpu(p->ring)) ring_give_back(p->ring);
    while (atomic_load(&p->epoch) == seen) {
        uint32_t bell = ring_worker_bell(p->ring);
        atomic_fetch_add(&p->asleep, 1);
        if (atomic_load(&p->epoch) == seen) ring_worker_sleep(p->ring, bell);
        atomic_fetch_sub(&p->asleep, 1);
    }
    atomic_fetch_sub(&p->idle, 1);
    if (!ring_on_client_cpu(p->ring)) ring_give_back(p->ring); /* it was lent for nothing */
}

static void *worker_main(void *data)
{
    struct worker *w = data;
    struct pool *p = w->pool;
    fault_thread_init();
    for (uint32_t seen = 0;;) {
        if (!spin_for_loop(p, seen)) sleep_until_called(p, seen);
        seen = atomic_load(&p->epoch);
        if (!enter(p)) continue;
        help(p, w->index);
        leave(p);
    }
    return NULL;
}

struct pool *pool_new(unsigned threads, struct ring *ring)
{
    struct pool *p = aligned_alloc(64, sizeof *p);
    if (!p) return NULL;
    *p = (struct pool){.threads = threads, .ring = ring};
    p->workers = calloc(threads, sizeof *p->workers);
    if (!p->workers) return NULL;
    for (unsigned i = 1; i < threads; i++) {
        pthread_t id;
        p->workers[i] = (struct worker){p, i};
        if (pthread_create(&id, NULL, worker_main, &p->workers[i])) {
            p->threads = i; /* fewer threads do */
            break;
        }
        pthread_detach(id);
    }
    return p;
}

unsigned pool_threads(const struct pool *p)
{
    return p->threads;
}

/* ---- the caller ---- */

/* The loop is over when the workers that came in are out; those still asleep are not waited for. */
static void wait_for_workers(struct pool *p)
{
    uint32_t gate = atomic_fetch_and(&p->gate, ~(uint32_t)GATE_OPEN) & ~(uint32_t)GATE_OPEN;
    while (gate) {
        gate = wait_spin(&p->gate, gate, SPIN_NS);
        if (!gate) break;
        atomic_store(&p->owner_sleeps, 1);
        wait_on(&p->gate, gate, 0);
        atomic_store(&p->owner_sleeps, 0);
        gate = atomic_load_explicit(&p->gate, memory_order_acquire);
    }
}

/* Workers that the loop has work for and that may come; how many of them are to be called. */
static unsigned workers_for(struct pool *p, uint64_t total, uint64_t expected_ns, unsigned *called)
{
    unsigned most = p->threads - 1, idle = atomic_load(&p->idle);
    uint64_t useful = expected_ns / SHARE_AWAKE_NS;
    if (useful > total - 1) useful = total - 1;
    if (useful > most) useful = most;
    unsigned awake = idle < most ? most - idle : 0;
    *called = useful > awake && expected_ns >= SHARE_CALLED_NS ? (unsigned)useful - awake : 0;
    return awake || *called ? (unsigned)useful : 0;
}

/* Turn by turn from front to back and from back to front: what a loop touched last is in the caches still. */
static uint64_t run_alone(struct pool *p, pool_body *body, void *data, uint64_t total, uint64_t expected_ns)
{
    uint64_t began = wait_now_ns(), chunk = expected_ns < TURN_NS ? total : (total - 1) / CHUNKS_ALONE + 1;
    for (uint64_t done = 0, n; done < total && !is_stopped(p); done += n) {
        n = total - done < chunk ? total - done : chunk;
        uint64_t first = p->backwards ? total - done - n : done;
        body(data, first, first + n, 0);
    }
    p->backwards = !p->backwards;
    return wait_now_ns() - began;
}

static void open_gate(struct pool *p)
{
    atomic_store_explicit(&p->taken, 0, memory_order_relaxed);
    atomic_store_explicit(&p->back, 0, memory_order_relaxed);
    atomic_store_explicit(&p->busy_ns, 0, memory_order_relaxed);
    atomic_store(&p->gate, GATE_OPEN);
    atomic_fetch_add(&p->epoch, 1);
}

/* Those who are about to sleep, or to work again, need no call, but a processor. */
static void call(struct pool *p, unsigned workers, unsigned called, uint64_t expected_ns)
{
    unsigned asleep = atomic_load(&p->asleep);
    bool borrow = workers + 2 > p->threads; /* with the caller and the client */
    ring_call_workers(p->ring, called < asleep ? called : asleep, borrow, expected_ns >= SHARE_WOKEN_NS);
}

void pool_set_stop(struct pool *p, bool (*stops)(uint64_t number), uint64_t number)
{
    p->stops = stops;
    p->number = number;
}

uint64_t pool_run(struct pool *p, pool_body *body, void *data, uint64_t total, uint64_t expected_ns)
{
    if (total == 0) return 0;
    unsigned called, workers = workers_for(p, total, expected_ns, &called);
    if (!workers) return run_alone(p, body, data, total, expected_ns);
    p->body = body;
    p->data = data;
    p->share = share_out(total, expected_ns, workers + 1);
    uint64_t began = wait_now_ns();
    open_gate(p);
    if (called) call(p, workers, called, expected_ns);
    work_from_front(p);
    uint64_t own_ns = wait_now_ns() - began;
    if (called) ring_end_call(p->ring);
    wait_for_workers(p);
    return own_ns + atomic_load_explicit(&p->busy_ns, memory_order_relaxed);
}
