/* Bells: words of the ring on which one side sleeps until the other rings. */
#pragma once

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline void bell_wake(_Atomic uint32_t *bell, int n)
{
    syscall(SYS_futex, bell, FUTEX_WAKE, n, NULL, NULL, 0);
}

/* Returns at a wake-up, a signal, or the timeout; UINT64_MAX: there is none. */
static inline void bell_sleep(_Atomic uint32_t *bell, uint32_t seen, uint64_t timeout_ns)
{
    struct timespec timeout = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};
    syscall(SYS_futex, bell, FUTEX_WAIT, seen, timeout_ns == UINT64_MAX ? NULL : &timeout, NULL, 0);
}

/* Who is about to sleep counts himself, then looks once more whether what he waits for is there. */
static inline void bell_ring(_Atomic uint32_t *bell, _Atomic uint32_t *sleepers)
{
    atomic_fetch_add(bell, 1);
    if (atomic_load(sleepers)) bell_wake(bell, INT_MAX);
}
