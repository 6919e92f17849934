/* The time limit of submissions. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct running;

/* Says, behind the reason, what the submission waited for. */
typedef void watchdog_explain(struct running *r, char *out, size_t room);
/* Starts the thread. explain may be NULL. -1 with errno. */
int watchdog_start(watchdog_explain *explain);
/* 0: no limit. */
void watchdog_set_limit(uint64_t limit_ms);
/* After running_begin(). Costs a system call only where the watchdog sleeps without a deadline. */
void watchdog_wake(void);
