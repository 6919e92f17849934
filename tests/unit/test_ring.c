/* The submission ring: order, wrap-around, full, every sort of garbage, two threads, the end of an executor. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "fusiond/status.h"
#include "proto/ring_wait.h"

static uint8_t out[RING_MAX_ENTRY];

static int setup(void **state)
{
    struct ring *r = aligned_alloc(64, ring_total_bytes());
    memset(r, 0, ring_total_bytes());
    ring_init(r);
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

static bool push(struct ring *r, uint64_t sequence, size_t rest, uint8_t mark)
{
    static uint8_t bytes[RING_MAX_ENTRY];
    memset(bytes, mark, rest);
    struct ring_entry entry = {.sequence = sequence, .executable = 42};
    return ring_push(r, &entry, bytes, rest);
}

static struct ring_entry header(void)
{
    struct ring_entry entry;
    memcpy(&entry, out, sizeof entry);
    return entry;
}

static void test_check(void **state)
{
    struct ring *r = *state;
    assert_true(ring_check(r, ring_total_bytes()));
    assert_false(ring_check(r, ring_total_bytes() - 1));
    r->version++;
    assert_false(ring_check(r, ring_total_bytes()));
}

static void test_wraparound(void **state)
{
    struct ring *r = *state;
    const char *reason = "";
    assert_int_equal(ring_pop(r, out, &reason), 0);
    /* Sizes that do not divide the ring: entries get split at every possible place. */
    for (uint64_t s = 1; s <= 5000; s++) {
        size_t rest = 8 * (s * 131 % 501);
        assert_true(push(r, s, rest, (uint8_t)s));
        assert_int_equal(ring_pop(r, out, &reason), 1);
        struct ring_entry entry = header();
        assert_true(entry.sequence == s && entry.executable == 42 && entry.size == sizeof entry + rest);
        for (size_t i = 0; i < rest; i++) assert_int_equal(out[sizeof entry + i], (uint8_t)s);
        assert_int_equal(ring_pop(r, out, &reason), 0);
        ring_complete(r, s, FUSION_SUCCESS, s, NULL, NULL);
    }
    assert_true(atomic_load(&r->head) > 3 * (uint64_t)RING_DATA_BYTES);
}

static void test_full(void **state)
{
    struct ring *r = *state;
    const char *reason = "";
    size_t rest = RING_MAX_ENTRY - sizeof(struct ring_entry);
    for (uint64_t s = 1; s <= RING_DATA_BYTES / RING_MAX_ENTRY; s++) assert_true(push(r, s, rest, 1));
    assert_false(push(r, 5, 0, 1));
    assert_int_equal(ring_pop(r, out, &reason), 1);
    assert_true(push(r, 5, rest, 1));
    assert_false(push(r, 6, 0, 1));
    assert_false(push(r, 6, rest + 8, 1)); /* larger than an entry may be */
    assert_false(push(r, 6, 4, 1));        /* not a multiple of 8 */
}

static void test_pending_limit(void **state)
{
    struct ring *r = *state;
    const char *reason = "";
    for (uint64_t s = 1; s <= RING_MAX_PENDING; s++) {
        assert_true(push(r, s, 0, 0));
        assert_int_equal(ring_pop(r, out, &reason), 1);
    }
    assert_false(push(r, RING_MAX_PENDING + 1, 0, 0)); /* its completion would overwrite that of 1 */
    ring_complete(r, 1, FUSION_SUCCESS, 0, NULL, NULL);
    assert_true(push(r, RING_MAX_PENDING + 1, 0, 0));
}

static void expect_corrupt(struct ring *r, const char *expected)
{
    const char *reason = "";
    assert_int_equal(ring_pop(r, out, &reason), -1);
    if (!strstr(reason, expected)) fail_msg("\"%s\", not \"%s\"", reason, expected);
}

static void test_corrupt_positions(void **state)
{
    struct ring *r = *state;
    atomic_store(&r->head, RING_DATA_BYTES + 8);
    expect_corrupt(r, "positions");
    atomic_store(&r->head, UINT64_MAX - 7);
    expect_corrupt(r, "positions");
    atomic_store(&r->tail, UINT64_MAX - 7);
    atomic_store(&r->head, UINT64_MAX - 3);
    expect_corrupt(r, "positions");
    atomic_store(&r->tail, 64);
    atomic_store(&r->head, 8);
    expect_corrupt(r, "positions");
    atomic_store(&r->tail, 4);
    atomic_store(&r->head, 4 + 64);
    expect_corrupt(r, "positions");
    atomic_store(&r->tail, 64);
    atomic_store(&r->head, 64 + 24);
    expect_corrupt(r, "less than an entry");
}

static void test_corrupt_sizes(void **state)
{
    static const uint32_t sizes[] = {0, 8, 31, 33, 36, 72, RING_MAX_ENTRY + 8, RING_DATA_BYTES, UINT32_MAX, 1u << 31};
    struct ring *r = *state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct ring_entry entry = {.size = sizes[i], .sequence = 1};
        memcpy(r->data, &entry, sizeof entry);
        atomic_store(&r->tail, 0);
        atomic_store(&r->head, 64); /* 32 bytes of it, and 32 more */
        expect_corrupt(r, "size");
    }
}

static void test_corrupt_sequences(void **state)
{
    struct ring *r = *state;
    const char *reason = "";
    /* What was completed already is passed over. */
    assert_true(push(r, 9, 8, 1));
    assert_true(push(r, 10, 0, 1));
    assert_true(push(r, 11, 16, 1));
    ring_complete(r, 10, FUSION_SUCCESS, 0, NULL, NULL);
    assert_int_equal(ring_pop(r, out, &reason), 1);
    assert_true(header().sequence == 11);
    assert_int_equal(ring_pop(r, out, &reason), 0);
    uint64_t head = atomic_load(&r->head);
    struct ring_entry entry = {.size = sizeof entry, .sequence = 11 + RING_MAX_PENDING};
    memcpy(r->data + head, &entry, sizeof entry);
    atomic_store(&r->head, head + sizeof entry);
    expect_corrupt(r, "sequence");
}

static void test_random_garbage(void **state)
{
    struct ring *r = *state;
    const char *reason = "";
    srand(7);
    for (int round = 0; round < 20000; round++) {
        uint64_t tail =
            (uint64_t)rand() % 3 ? (uint64_t)(rand() % 4096) * 8 : (uint64_t)rand() << 33 | (uint64_t)rand();
        for (int i = 0; i < 256; i++)
            r->data[(tail + (uint64_t)i) % RING_DATA_BYTES] = (uint8_t)(rand() % 4 ? 0 : rand());
        atomic_store(&r->tail, tail);
        atomic_store(&r->head, tail + (uint64_t)(rand() % 40) * 8);
        for (int i = 0; i < 50; i++) {
            int result = ring_pop(r, out, &reason);
            if (result <= 0) break;
            struct ring_entry entry = header();
            assert_in_range(entry.size, sizeof entry, RING_MAX_ENTRY);
            ring_entry_valid(out, &reason);
        }
    }
}

static void test_entry_contents(void **state)
{
    (void)state;
    const char *reason = "";
    struct {
        struct ring_entry entry;
        struct ring_binding bindings[2];
        struct ring_value value;
        uint8_t data[16]; /* 12, padded */
        struct ring_value last;
        uint8_t more[8];
    } good = {.entry = {.size = sizeof good, .n_bindings = 2, .n_values = 2}, .value = {0, 12}, .last = {1, 8}}, bad;
    assert_int_equal(sizeof good, 64 + 48 + 8 + 16 + 8 + 8);
    const uint8_t *bytes = (const uint8_t *)&bad;
    bad = good;
    assert_true(ring_entry_valid(bytes, &reason));
    bad.entry.n_bindings = 4;
    assert_false(ring_entry_valid(bytes, &reason));
    bad.entry.n_bindings = UINT32_MAX;
    assert_false(ring_entry_valid(bytes, &reason));
    assert_string_equal(reason, "the entry has more bindings than room for them");
    bad = good;
    bad.entry.n_values = 3;
    assert_false(ring_entry_valid(bytes, &reason));
    assert_string_equal(reason, "the entry has more values than room for them");
    bad.entry.n_values = 1;
    assert_false(ring_entry_valid(bytes, &reason));
    assert_string_equal(reason, "the entry is larger than its contents");
    bad.entry.n_after = 2;
    assert_true(ring_entry_valid(bytes, &reason));
    bad.entry.n_after = 3;
    assert_false(ring_entry_valid(bytes, &reason));
    assert_string_equal(reason, "the entry comes after more submissions than it has room for");
    bad.entry.n_after = UINT32_MAX;
    assert_false(ring_entry_valid(bytes, &reason));
    bad = good;
    bad.last.size = 9;
    assert_false(ring_entry_valid(bytes, &reason));
    assert_string_equal(reason, "a value of the entry reaches beyond its end");
    bad.last.size = UINT32_MAX;
    assert_false(ring_entry_valid(bytes, &reason));
}

static void test_completion(void **state)
{
    struct ring *r = *state;
    char text[RING_REASON_BYTES + 100];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    assert_false(ring_wait(r, 1, 0));
    ring_complete(r, 1, FUSION_KERNEL_FAULT, 77, text, text);
    assert_true(ring_wait(r, 1, 0));
    const struct ring_completion *c = &r->completions[1];
    assert_true(atomic_load(&c->sequence) == 1);
    assert_int_equal(c->status, FUSION_KERNEL_FAULT);
    assert_true(c->run_ns == 77);
    assert_int_equal(strlen(r->failures[1].object), RING_OBJECT_BYTES - 1);
    assert_int_equal(strlen(r->failures[1].reason), RING_REASON_BYTES - 1);
}

/* That of the executor that has just ended, not that of one before it. */
static void test_last_failure(void **state)
{
    struct ring *r = *state;
    char object[RING_OBJECT_BYTES], reason[RING_REASON_BYTES];
    for (uint64_t s = 1; s <= 5; s++) assert_true(push(r, s, 8, 1));
    assert_false(ring_last_failure(r, FUSION_KERNEL_FAULT, object, reason));
    ring_complete(r, 1, FUSION_KERNEL_FAULT, 0, "kernel a", "long ago");
    assert_true(ring_last_failure(r, FUSION_KERNEL_FAULT, object, reason));
    assert_string_equal(object, "kernel a");
    ring_settle(r, 4, FUSION_KERNEL_FAULT, 0, "kernel b", "beside others");
    assert_true(ring_last_failure(r, FUSION_KERNEL_FAULT, object, reason));
    assert_string_equal(object, "kernel b");
    assert_string_equal(reason, "beside others");
    assert_false(ring_last_failure(r, FUSION_TIMEOUT, object, reason));
    memset(r->failures[4].object, 'x', RING_OBJECT_BYTES); /* its client writes what he likes */
    memset(r->failures[4].reason, 'x', RING_REASON_BYTES);
    atomic_store(&r->pushed, UINT64_MAX);
    assert_true(ring_last_failure(r, FUSION_KERNEL_FAULT, object, reason)); /* the first one: nothing is pending */
    assert_string_equal(object, "kernel a");
    atomic_store(&r->pushed, 5);
    assert_true(ring_last_failure(r, FUSION_KERNEL_FAULT, object, reason));
    assert_int_equal(strlen(object), RING_OBJECT_BYTES - 1);
    assert_int_equal(strlen(reason), RING_REASON_BYTES - 1);
}

static void test_abort(void **state)
{
    struct ring *r = *state;
    const char *reason = "";
    for (uint64_t s = 1; s <= 5; s++) assert_true(push(r, s, 8, 1));
    assert_int_equal(ring_pop(r, out, &reason), 1);
    ring_complete(r, 1, FUSION_SUCCESS, 0, NULL, NULL);
    assert_int_equal(ring_pop(r, out, &reason), 1);
    assert_int_equal(ring_abort(r, FUSION_EXECUTOR, "executor", "killed by signal 9"), 4);
    assert_true(ring_wait(r, 5, 0));
    assert_int_equal(r->completions[1].status, FUSION_SUCCESS);
    for (int s = 2; s <= 5; s++) {
        assert_int_equal(r->completions[s].status, FUSION_EXECUTOR);
        assert_string_equal(r->failures[s].reason, "killed by signal 9");
    }
    assert_int_equal(ring_pop(r, out, &reason), 0);
    assert_true(push(r, 6, 0, 1));
    assert_int_equal(ring_pop(r, out, &reason), 1);
    assert_int_equal(ring_abort(r, FUSION_EXECUTOR, "", ""), 1);
    assert_int_equal(ring_abort(r, FUSION_EXECUTOR, "", ""), 0);
}

/* What ended before older ones is told at once, counts when they have ended, and keeps its outcome. */
static void test_settle(void **state)
{
    struct ring *r = *state;
    for (uint64_t s = 1; s <= 5; s++) assert_true(push(r, s, 8, 1));
    ring_settle(r, 3, FUSION_SUCCESS, 7, NULL, NULL);
    ring_settle(r, 2, FUSION_INVALID, 8, "two", "");
    assert_true(ring_wait(r, 3, 0));
    assert_true(ring_is_settled(r, 2));
    assert_false(ring_wait(r, 4, 0));
    assert_false(ring_wait_all(r, 3, 0));
    ring_complete(r, 1, FUSION_SUCCESS, 0, NULL, NULL);
    assert_false(ring_wait_all(r, 3, 0));
    ring_advance(r, 3);
    assert_true(ring_wait_all(r, 3, 0));
    ring_settle(r, 5, FUSION_SUCCESS, 9, NULL, NULL);
    assert_int_equal(ring_abort(r, FUSION_EXECUTOR, "executor", ""), 2);
    assert_true(ring_wait_all(r, 5, 0));
    static const uint32_t outcomes[] = {FUSION_SUCCESS, FUSION_INVALID, FUSION_SUCCESS, FUSION_EXECUTOR,
                                        FUSION_SUCCESS};
    for (int s = 1; s <= 5; s++) assert_int_equal(r->completions[s].status, outcomes[s - 1]);
}

static void test_abort_with_garbage(void **state)
{
    struct ring *r = *state;
    atomic_store(&r->pushed, UINT64_MAX);
    assert_int_equal(ring_abort(r, FUSION_EXECUTOR, "", ""), 0);
    atomic_store(&r->completed, 1000);
    atomic_store(&r->pushed, 3);
    assert_int_equal(ring_abort(r, FUSION_EXECUTOR, "", ""), 0);
    atomic_store(&r->pushed, 1000 + RING_MAX_PENDING);
    assert_int_equal(ring_abort(r, FUSION_EXECUTOR, "", ""), RING_MAX_PENDING);
    atomic_store(&r->completed, UINT64_MAX - 5); /* the last number there is, and then those from 0 on */
    atomic_store(&r->pushed, UINT64_MAX);
    assert_int_equal(ring_abort(r, FUSION_EXECUTOR, "", ""), 5);
    atomic_store(&r->pushed, 3);
    assert_int_equal(ring_abort(r, FUSION_EXECUTOR, "", ""), 4);
}

/* ---- threads ---- */

enum { MESSAGES = 20000 };

static void *consume(void *data)
{
    struct ring *r = data;
    static uint8_t entry[RING_MAX_ENTRY];
    const char *reason = "";
    uint64_t next = 1;
    while (next <= MESSAGES) {
        ring_wait_entry(r, ring_entry_bell(r), 1000, 1000);
        int result;
        while ((result = ring_pop(r, entry, &reason)) > 0) {
            struct ring_entry head;
            memcpy(&head, entry, sizeof head);
            bool right = head.sequence == next && head.executable == 42;
            for (size_t i = sizeof head; i < head.size; i++) right = right && entry[i] == (uint8_t)next;
            ring_complete(r, next, right ? FUSION_SUCCESS : FUSION_INTERNAL, next, "", "");
            next++;
        }
        if (result < 0) return (void *)reason;
    }
    return NULL;
}

struct answering {
    struct ring *ring;
    uint64_t rounds, spin_ns;
};

static void *answer(void *data)
{
    const struct answering *a = data;
    static uint8_t entry[RING_MAX_ENTRY];
    const char *reason = "";
    for (uint64_t next = 1; next <= a->rounds;) {
        ring_wait_entry(a->ring, ring_entry_bell(a->ring), a->spin_ns, 1000);
        while (ring_pop(a->ring, entry, &reason) > 0) ring_complete(a->ring, next++, FUSION_SUCCESS, 0, "", "");
    }
    return NULL;
}

static void test_two_threads(void **state)
{
    struct ring *r = *state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, consume, r), 0);
    for (uint64_t s = 1; s <= MESSAGES; s++) {
        while (!push(r, s, 8 * (s * 37 % 200), (uint8_t)s))
            assert_true(ring_wait(r, s > RING_MAX_PENDING ? s - RING_MAX_PENDING : 1, 10000));
        if (s % 1000 == 0) {
            assert_true(ring_wait(r, s, 10000));
            assert_int_equal(r->completions[s % RING_MAX_PENDING].status, FUSION_SUCCESS);
            assert_true(r->completions[s % RING_MAX_PENDING].run_ns == s);
        }
    }
    void *result;
    pthread_join(thread, &result);
    assert_null(result);
}

/* One after the other on one processor: a side that spins there keeps the other from what it waits for. */
static void test_one_processor(void **state)
{
    enum { ROUNDS = 1000, SPIN_NS = 40000 };
    struct ring *r = *state;
    pthread_t thread;
    cpu_set_t before, one;
    struct timespec from, to;
    assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    assert_int_equal(pthread_create(&thread, NULL, answer, &(struct answering){r, ROUNDS, SPIN_NS}), 0);
    for (uint64_t s = 1; s <= ROUNDS; s++) {
        assert_true(push(r, s, 8, (uint8_t)s));
        assert_true(ring_wait(r, s, 10000));
    }
    pthread_join(thread, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    pthread_setaffinity_np(pthread_self(), sizeof before, &before);
    int64_t used_ns = (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec;
    assert_true(used_ns < (int64_t)ROUNDS * SPIN_NS);
}

static void *close_soon(void *data)
{
    struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
    ring_set_state(data, RING_CLOSED);
    return NULL;
}

static void test_wait_ends(void **state)
{
    struct ring *r = *state;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_false(ring_wait(r, 1, 30));
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_true((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000 >= 29);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, close_soon, r), 0);
    assert_false(ring_wait(r, 1, -1)); /* no time limit: ends because the ring is closed */
    pthread_join(thread, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* ---- what kernels print ---- */

/* Text comes out as it went in, round and round; what does not fit is not taken in part; nonsense is nothing. */
static void test_print(void **state)
{
    struct ring *r = *state;
    enum { PART = 300001 };
    char *in = malloc(PART), *got_back = malloc(RING_PRINT_BYTES);
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned k = 0; k < PART; k++) in[k] = (char)(round * 7 + k * 31 + k / 256);
        assert_true(ring_print(r, in, PART));
        size_t n = 0, got;
        while ((got = ring_take_print(r, got_back + n, 4096))) n += got;
        assert_int_equal(n, PART);
        assert_memory_equal(in, got_back, PART);
    }
    for (unsigned k = 0; k < 3; k++) assert_true(ring_print(r, in, PART));
    assert_false(ring_print(r, in, PART));
    assert_true(ring_print(r, in, 5));
    r->printed += RING_PRINT_BYTES; /* by one whom nobody trusts */
    assert_int_equal(ring_take_print(r, got_back, RING_PRINT_BYTES), 0);
    free(in);
    free(got_back);
}

static void test_away(void **state)
{
    struct ring *r = *state;
    for (uint64_t id = 1; id <= RING_MAX_AWAY; id++) ring_note_away(r, id << 20);
    ring_note_away(r, 7 << 20);
    for (uint64_t id = 1; id <= RING_MAX_AWAY; id++) assert_true(ring_is_away(r, id << 20));
    ring_forget_away(r, 7 << 20);
    ring_forget_away(r, 5);
    assert_false(ring_is_away(r, 7 << 20));
    ring_note_away(r, UINT64_MAX);
    assert_true(ring_is_away(r, UINT64_MAX));
    ring_count_moved(r, 3, 4);
    ring_count_moved(r, 5, 0);
    assert_int_equal(r->to_device, 8);
    assert_int_equal(r->from_device, 4);
}

/* Whatever the executor says it has told, at most what the ring has is given, and never for ever. */
static void test_times(void **state)
{
    struct ring *r = *state;
    struct ring_time times[RING_TIMES];
    for (uint64_t i = 0; i < 10; i++) ring_tell_time(r, &(struct ring_time){.sequence = i});
    assert_int_equal(ring_take_times(r, times, 4), 4);
    assert_int_equal(times[3].sequence, 3);
    assert_int_equal(ring_take_times(r, times, RING_TIMES), 6);
    assert_int_equal(times[5].sequence, 9);
    assert_int_equal(ring_take_times(r, times, RING_TIMES), 0);
    for (uint64_t i = 0; i < 3 * RING_TIMES; i++) ring_tell_time(r, &(struct ring_time){.sequence = i});
    assert_int_equal(ring_take_times(r, times, RING_TIMES), RING_TIMES - 1);
    assert_int_equal(times[0].sequence, 2 * RING_TIMES + 1);
    static const uint64_t garbage[] = {0, 5, UINT64_MAX, UINT64_MAX / 2};
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        atomic_store(&r->timed, garbage[i]);
        uint64_t taken = 0, n;
        while ((n = ring_take_times(r, times, 16)) > 0) taken += n;
        assert_true(taken < RING_TIMES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_check),
        TEST(test_wraparound),
        TEST(test_full),
        TEST(test_pending_limit),
        TEST(test_corrupt_positions),
        TEST(test_corrupt_sizes),
        TEST(test_corrupt_sequences),
        TEST(test_random_garbage),
        TEST(test_entry_contents),
        TEST(test_completion),
        TEST(test_last_failure),
        TEST(test_abort),
        TEST(test_settle),
        TEST(test_abort_with_garbage),
        TEST(test_two_threads),
        TEST(test_one_processor),
        TEST(test_wait_ends),
        TEST(test_print),
        TEST(test_away),
        TEST(test_times),
    };
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
