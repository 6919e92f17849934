/* Waiting for a word that two processes share. */
#pragma once

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Until it is not `value`, or some time has gone, or nothing happened. milliseconds 0: for ever. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value, long milliseconds)
{
    struct timespec t = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
    syscall(SYS_futex, word, FUTEX_WAIT, value, milliseconds ? &t : NULL, NULL, 0);
}

static inline void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}
