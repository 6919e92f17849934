/* Waiting at the ring, and waking those who do. */
#include "proto/ring_wait.h"

#include <sched.h>

#include "proto/ring_bell.h"

enum {
    WAIT_SPIN_NS = 50000, /* of a client, about what a wake-up costs: a small kernel ends within it */
    LOOKS = 16,           /* at what is waited for, between two at the clock */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t deadline_after(int timeout_ms)
{
    return timeout_ms < 0 ? UINT64_MAX : now_ns() + (uint64_t)timeout_ms * 1000000;
}

/* Time left, UINT64_MAX: no limit. */
static uint64_t time_left(uint64_t deadline)
{
    if (deadline == UINT64_MAX) return UINT64_MAX;
    uint64_t now = now_ns();
    return deadline > now ? deadline - now : 0;
}

/* A moment of a spinning loop. Not sched_yield(): where others compute, that gives the processor away until the next
   tick of the kernel's clock. */
static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Does whoever is waited for need the processor that we would spin on? */
static bool needs_our_cpu(const _Atomic uint32_t *other)
{
    uint32_t cpu = atomic_load_explicit(other, memory_order_relaxed);
    return cpu && cpu == (uint32_t)(sched_getcpu() + 1);
}

/* ---- the client ---- */

/* What a client waits for. */
struct awaited {
    uint64_t sequence;
    bool all; /* those before it, too */
};

static bool has_come(struct ring *r, const struct awaited *a)
{
    return atomic_load(&r->completed) >= a->sequence || (!a->all && ring_is_settled(r, a->sequence));
}

static bool is_called(struct ring *r)
{
    return atomic_load_explicit(&r->called, memory_order_relaxed);
}

static void spin_for_completion(struct ring *r, const struct awaited *a)
{
    atomic_fetch_add(&r->spinners, 1);
    uint64_t end = now_ns() + WAIT_SPIN_NS;
    for (unsigned i = 0; !has_come(r, a) && !is_called(r); i++) {
        if (i % LOOKS == 0 && (needs_our_cpu(&r->executor_cpu) || now_ns() >= end)) break;
        relax();
    }
    atomic_fetch_sub(&r->spinners, 1);
}

/* Gives what the call asked for. */
static uint32_t wake_workers(struct ring *r)
{
    uint32_t called = is_called(r) ? atomic_exchange(&r->called, 0) : 0;
    if (called & RING_CALL_WORKERS) bell_wake(&r->worker_bell, (int)(called & RING_CALL_WORKERS));
    return called;
}

static void sleep_until_bell(struct ring *r, const struct awaited *a, uint32_t seen, uint64_t timeout_ns)
{
    atomic_fetch_add(&r->waiters, 1);
    if (!has_come(r, a) && atomic_load(&r->completion_bell) == seen) bell_sleep(&r->completion_bell, seen, timeout_ns);
    atomic_fetch_sub(&r->waiters, 1);
}

static bool wait_for(struct ring *r, const struct awaited *a, int timeout_ms)
{
    uint32_t state = atomic_load(&r->state);
    uint64_t deadline = deadline_after(timeout_ms);
    while (!has_come(r, a)) {
        uint32_t seen = atomic_load(&r->completion_bell);
        uint64_t left = time_left(deadline);
        uint32_t now = atomic_load(&r->state);
        if (left == 0 || now == RING_CLOSED || now != state) break;
        spin_for_completion(r, a);
        uint32_t called = wake_workers(r);
        if (called && !(called & RING_CALL_BORROWS)) continue;
        sleep_until_bell(r, a, seen, left);
    }
    return has_come(r, a);
}

bool ring_wait(struct ring *r, uint64_t sequence, int timeout_ms)
{
    return wait_for(r, &(struct awaited){.sequence = sequence}, timeout_ms);
}

bool ring_wait_all(struct ring *r, uint64_t sequence, int timeout_ms)
{
    return wait_for(r, &(struct awaited){.sequence = sequence, .all = true}, timeout_ms);
}

uint32_t ring_completion_bell(const struct ring *r)
{
    return atomic_load(&r->completion_bell);
}

void ring_wait_completion(struct ring *r, uint32_t seen, int timeout_ms)
{
    uint64_t timeout_ns = timeout_ms < 0 ? UINT64_MAX : (uint64_t)timeout_ms * 1000000;
    atomic_fetch_add(&r->waiters, 1);
    if (atomic_load(&r->completion_bell) == seen) bell_sleep(&r->completion_bell, seen, timeout_ns);
    atomic_fetch_sub(&r->waiters, 1);
    wake_workers(r);
}

void ring_wake_clients(struct ring *r)
{
    bell_ring(&r->completion_bell, &r->waiters);
}

/* ---- the executor ---- */

static bool has_entry(struct ring *r)
{
    return atomic_load(&r->head) != atomic_load(&r->tail);
}

static bool has_rung(struct ring *r, uint32_t seen)
{
    return atomic_load(&r->doorbell) != seen;
}

static void spin_for_entry(struct ring *r, uint32_t seen, uint64_t spin_ns)
{
    uint64_t end = now_ns() + spin_ns;
    for (unsigned i = 0; !has_entry(r) && !has_rung(r, seen); i++) {
        if (i % LOOKS == 0 && (needs_our_cpu(&r->client_cpu) || now_ns() >= end)) break;
        relax();
    }
}

static void sleep_for_bell(struct ring *r, uint32_t seen, bool entries, int timeout_ms)
{
    atomic_store(&r->executor_sleeps, 1);
    if (!has_rung(r, seen) && !(entries && has_entry(r)) && timeout_ms != 0)
        bell_sleep(&r->doorbell, seen, timeout_ms < 0 ? UINT64_MAX : (uint64_t)timeout_ms * 1000000);
    atomic_store(&r->executor_sleeps, 0);
}

void ring_wait_entry(struct ring *r, uint32_t seen, uint64_t spin_ns, int timeout_ms)
{
    if (spin_ns > 0) spin_for_entry(r, seen, spin_ns);
    if (!has_entry(r)) sleep_for_bell(r, seen, true, timeout_ms);
}

void ring_wait_bell(struct ring *r, uint32_t seen)
{
    sleep_for_bell(r, seen, false, -1);
}

uint32_t ring_entry_bell(const struct ring *r)
{
    return atomic_load(&r->doorbell);
}

void ring_wake_executor(struct ring *r)
{
    bell_ring(&r->doorbell, &r->executor_sleeps);
}

void ring_call_workers(struct ring *r, uint32_t n, bool borrow, bool pays)
{
    atomic_fetch_add(&r->worker_bell, 1);
    atomic_store(&r->called, (n < RING_CALL_WORKERS ? n : RING_CALL_WORKERS) | (borrow ? RING_CALL_BORROWS : 0));
    if (pays && !atomic_load(&r->spinners)) wake_workers(r);
}

void ring_end_call(struct ring *r)
{
    atomic_store_explicit(&r->called, 0, memory_order_relaxed);
}

uint32_t ring_worker_bell(struct ring *r)
{
    return atomic_load(&r->worker_bell);
}

void ring_worker_sleep(struct ring *r, uint32_t seen)
{
    bell_sleep(&r->worker_bell, seen, UINT64_MAX);
}

void ring_give_back(struct ring *r)
{
    bell_ring(&r->completion_bell, &r->waiters); /* also where it is only about to sleep */
}

bool ring_on_client_cpu(const struct ring *r)
{
    return needs_our_cpu(&r->client_cpu);
}

bool ring_on_executor_cpu(const struct ring *r)
{
    return needs_our_cpu(&r->executor_cpu);
}
