/* The time limit of submissions. */
#pragma once

#include <stdint.h>

/* Starts the thread. -1 with errno. */
int watchdog_start(void);
/* 0: no limit. */
void watchdog_set_limit(uint64_t limit_ms);
/* After running_begin(). Costs a system call only where the watchdog sleeps without a deadline. */
void watchdog_wake(void);
