/* Rings of host pipes: both ends, and an other side that writes what it likes into them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "fuser/cpu/runtime/pipe.h"
#include "ir/base/pipe_ring.h"

enum { CAPACITY = 7, PACKET = 8, GUARD = 64 };

/* A ring with guards on both sides, which nobody may touch. */
struct place {
    uint8_t *memory;
    struct pipe_ring *ring;
    uint64_t bytes;
};

static struct place make(uint32_t packet, uint32_t capacity)
{
    struct place p = {.bytes = pipe_ring_bytes(packet, capacity)};
    p.memory = aligned_alloc(64, (p.bytes + 2 * GUARD + 63) / 64 * 64);
    memset(p.memory, 0x5a, p.bytes + 2 * GUARD);
    p.ring = (struct pipe_ring *)(p.memory + GUARD);
    memset(p.ring, 0, p.bytes);
    pipe_ring_init(p.ring, packet, capacity);
    return p;
}

static void end(struct place *p)
{
    for (int i = 0; i < GUARD; i++) assert_int_equal(p->memory[i], 0x5a);
    for (int i = 0; i < GUARD; i++) assert_int_equal(p->memory[GUARD + p->bytes + i], 0x5a);
    free(p->memory);
}

static void test_check(void **state)
{
    (void)state;
    struct place p = make(PACKET, CAPACITY);
    assert_null(pipe_ring_check(p.ring, p.bytes, PACKET, CAPACITY));
    assert_non_null(pipe_ring_check(p.ring, p.bytes - 1, PACKET, CAPACITY));
    assert_non_null(pipe_ring_check(p.ring, p.bytes, PACKET, CAPACITY - 1));
    assert_non_null(pipe_ring_check(p.ring, p.bytes, PACKET - 1, CAPACITY));
    p.ring->magic++;
    assert_non_null(pipe_ring_check(p.ring, p.bytes, PACKET, CAPACITY));
    end(&p);
}

/* One after the other, in pieces of all sizes; numbers that pass 2^32 and 2^64 on the way. */
static void test_in_turns(void **state)
{
    (void)state;
    static const uint64_t firsts[] = {0, UINT32_MAX - 20, UINT64_MAX - 20};
    for (int f = 0; f < 3; f++) {
        struct place p = make(PACKET, 8);
        struct pipe_ring_port w, r;
        uint64_t put = 0, taken = 0;
        p.ring->side[0].done = p.ring->side[1].done = firsts[f];
        assert_true(pipe_ring_open(&w, p.ring, PACKET, 8, PIPE_RING_WRITER));
        assert_true(pipe_ring_open(&r, p.ring, PACKET, 8, PIPE_RING_READER));
        for (int round = 0; round < 300; round++) {
            uint32_t n = pipe_ring_straight(&w, (uint32_t)round * 7 % (pipe_ring_look(&w) + 1));
            for (uint32_t i = 0; i < n; i++) memcpy(pipe_ring_at(&w, i), &(uint64_t){put++}, 8);
            pipe_ring_advance(&w, n);
            n = pipe_ring_straight(&r, (uint32_t)round * 5 % (pipe_ring_look(&r) + 1));
            for (uint32_t i = 0; i < n; i++) assert_memory_equal(pipe_ring_at(&r, i), &(uint64_t){taken++}, 8);
            pipe_ring_advance(&r, n);
            assert_true(put - taken <= 8);
            assert_int_equal(pipe_ring_look(&w), 8 - (put - taken));
        }
        assert_true(put > 100);
        end(&p);
    }
}

/* Who opens an end goes on where it was. */
static void test_open_again(void **state)
{
    (void)state;
    struct place p = make(PACKET, CAPACITY);
    struct pipe_ring_port port;
    p.ring->side[PIPE_RING_WRITER].done = 12;
    p.ring->side[PIPE_RING_READER].done = 9;
    assert_true(pipe_ring_open(&port, p.ring, PACKET, CAPACITY, PIPE_RING_READER));
    assert_int_equal(pipe_ring_ready(&port), 3);
    assert_true(pipe_ring_open(&port, p.ring, PACKET, CAPACITY, PIPE_RING_WRITER));
    assert_int_equal(pipe_ring_ready(&port), 4);
    p.ring->side[PIPE_RING_READER].done = 13;
    assert_false(pipe_ring_open(&port, p.ring, PACKET, CAPACITY, PIPE_RING_READER));
    p.ring->side[PIPE_RING_READER].done = 4;
    assert_false(pipe_ring_open(&port, p.ring, PACKET, CAPACITY, PIPE_RING_WRITER));
    end(&p);
}

static uint64_t random_number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = *seed >> 29;
    switch (x % 6) {
    case 0: return x >> 3 & 15;
    case 1: return UINT64_MAX - (x >> 3 & 15);
    case 2: return (uint64_t)1 << (x >> 3 & 63);
    default: return *seed ^ *seed >> 31;
    }
}

/* Whatever the other side leaves in the ring, whenever: what is touched lies in the ring, and never more than fits. */
static void test_hostile(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 2000; round++) {
        struct place p = make(PACKET, CAPACITY);
        struct pipe_ring_port port;
        enum pipe_ring_end mine = round & 1 ? PIPE_RING_WRITER : PIPE_RING_READER;
        pipe_ring_open(&port, p.ring, PACKET, CAPACITY, mine);
        for (int step = 0; step < 40; step++) {
            uint32_t *header = (uint32_t *)p.ring;
            if (step % 5 == 0) header[random_number(&seed) % (sizeof *p.ring / 4)] = (uint32_t)random_number(&seed);
            uint64_t near = port.own + random_number(&seed) % 20 - 10;
            atomic_store(&p.ring->side[!mine].done, step % 3 ? near : random_number(&seed));
            uint32_t n = pipe_ring_look(&port);
            if (port.broken) break;
            assert_true(n <= CAPACITY);
            n = pipe_ring_straight(&port, n);
            for (uint32_t i = 0; i < n; i++) {
                uint8_t *at = pipe_ring_at(&port, i);
                assert_true(at >= p.ring->packets && at + PACKET <= p.memory + GUARD + p.bytes);
                memset(at, step, PACKET);
            }
            pipe_ring_advance(&port, n);
        }
        end(&p);
    }
}

/* The same for kernels: packets and reservations of a pipe whose ring the host spoils. */
static void test_hostile_host(void **state)
{
    (void)state;
    uint64_t seed = 7, packet = 1;
    for (int round = 0; round < 1000; round++) {
        struct place p = make(PACKET, CAPACITY);
        struct kernel_pipe *k = calloc(1, kernel_pipe_bytes(PACKET, CAPACITY));
        enum pipe_ring_end mine = round & 1 ? PIPE_RING_WRITER : PIPE_RING_READER;
        kernel_pipe_init(k, PACKET, CAPACITY);
        assert_true(kernel_pipe_set_ring(k, p.ring, mine));
        for (int step = 0; step < 40; step++) {
            uint64_t near = k->port.own + random_number(&seed) % 20 - 10;
            atomic_store(&p.ring->side[!mine].done, step % 3 ? near : random_number(&seed));
            uint32_t n = (uint32_t)random_number(&seed) % 9, writes = mine == PIPE_RING_WRITER;
            if (writes)
                kernel_pipe_write(k, PACKET, &packet);
            else
                kernel_pipe_read(k, PACKET, &packet);
            uint64_t id = kernel_pipe_reserve(k, writes, n);
            for (uint32_t i = 0; i < n; i++) {
                kernel_pipe_write_at(k, PACKET, &packet, id, i);
                kernel_pipe_read_at(k, PACKET, &packet, id, i);
            }
            kernel_pipe_commit(k, writes, id);
            assert_in_range(kernel_pipe_packets(k), 0, CAPACITY);
        }
        free(k);
        end(&p);
    }
}

/* Who wakes leaves what the sleeper says alone: it may be about to sleep again, and would not be woken then. */
static void test_sleeps_again(void **state)
{
    (void)state;
    struct place p = make(PACKET, CAPACITY);
    struct pipe_ring_port w, r;
    assert_true(pipe_ring_open(&w, p.ring, PACKET, CAPACITY, PIPE_RING_WRITER));
    assert_true(pipe_ring_open(&r, p.ring, PACKET, CAPACITY, PIPE_RING_READER));
    for (uint64_t i = 0; i < 20; i++) {
        pipe_ring_sleep(&r, 1); /* comes back at once, as if something else had woken it */
        pipe_ring_advance(&w, 1);
        assert_int_equal(p.ring->side[PIPE_RING_WRITER].slept_at, i + 1);
        assert_int_equal(w.woken_at, i + 1);
        assert_int_equal(pipe_ring_look(&r), 1);
        pipe_ring_advance(&r, 1);
        pipe_ring_look(&w);
    }
    end(&p);
}

/* ---- two threads ---- */

enum { PACKETS = 20000 };

static void *write_all(void *data)
{
    struct pipe_ring_port *w = data;
    for (uint64_t i = 0; i < PACKETS; i++) {
        while (!pipe_ring_look(w)) pipe_ring_sleep(w, 0);
        memcpy(pipe_ring_at(w, 0), &i, sizeof i);
        pipe_ring_advance(w, 1);
    }
    return NULL;
}

/* Nobody sleeps for good, at any capacity. */
static void test_sleepers(void **state)
{
    (void)state;
    for (uint32_t capacity = 1; capacity < 20; capacity += 6) {
        struct place p = make(PACKET, capacity);
        struct pipe_ring_port w, r;
        pthread_t thread;
        assert_true(pipe_ring_open(&w, p.ring, PACKET, capacity, PIPE_RING_WRITER));
        assert_true(pipe_ring_open(&r, p.ring, PACKET, capacity, PIPE_RING_READER));
        assert_int_equal(pthread_create(&thread, NULL, write_all, &w), 0);
        for (uint64_t i = 0; i < PACKETS; i++) {
            while (!pipe_ring_look(&r)) pipe_ring_sleep(&r, 0);
            assert_memory_equal(pipe_ring_at(&r, 0), &i, sizeof i);
            pipe_ring_advance(&r, 1);
        }
        pthread_join(thread, NULL);
        end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_check),        cmocka_unit_test(test_in_turns),
                                       cmocka_unit_test(test_open_again),   cmocka_unit_test(test_hostile),
                                       cmocka_unit_test(test_hostile_host), cmocka_unit_test(test_sleepers),
                                       cmocka_unit_test(test_sleeps_again)};
    return cmocka_run_group_tests_name("pipe_ring", tests, NULL, NULL);
}
