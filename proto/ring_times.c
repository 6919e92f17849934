/* When the steps of submissions ran, for clients that want to know. */
#include "proto/ring.h"

void ring_tell_time(struct ring *r, const struct ring_time *time)
{
    uint64_t n = atomic_load_explicit(&r->timed, memory_order_relaxed);
    r->times[n % RING_TIMES] = *time;
    atomic_store_explicit(&r->timed, n + 1, memory_order_release);
}

/* What is written over while it is copied is not given: the executor may be as far as that place by then. */
uint32_t ring_take_times(struct ring *r, struct ring_time *times, uint32_t room)
{
    uint64_t told = atomic_load_explicit(&r->timed, memory_order_acquire);
    uint64_t at = atomic_load_explicit(&r->times_taken, memory_order_relaxed);
    uint32_t n = 0;
    if (told - at >= RING_TIMES) at = told < RING_TIMES ? 0 : told - RING_TIMES + 1;
    for (; at != told && n < room; at++) {
        times[n] = r->times[at % RING_TIMES];
        atomic_thread_fence(memory_order_acquire);
        n += atomic_load_explicit(&r->timed, memory_order_relaxed) - at < RING_TIMES;
    }
    atomic_store_explicit(&r->times_taken, at, memory_order_relaxed);
    return n;
}
