/* Time, spinning and sleeping on words of memory. All of it is safe in signal handlers. */
#pragma once

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t wait_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Sleeps while *word is value; timeout_ns 0: no limit. May return early. */
static inline void wait_on(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
    struct timespec t = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout_ns ? &t : NULL, NULL, 0);
}

static inline void wait_wake(_Atomic uint32_t *word, int n)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

/* A moment of a spinning loop. */
static inline void wait_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* Spins until *word is not value any more or the time is over; returns what it saw last. */
static inline uint32_t wait_spin(_Atomic uint32_t *word, uint32_t value, uint64_t spin_ns)
{
    uint64_t end = wait_now_ns() + spin_ns;
    uint32_t seen;
    do {
        for (int i = 0; i < 32; i++) {
            seen = atomic_load_explicit(word, memory_order_acquire);
            if (seen != value) return seen;
            wait_relax();
        }
    } while (wait_now_ns() < end);
    return seen;
}
