/* The time limits of submissions. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct running;

/* Says, behind the reason, what the submission waited for. */
typedef void watchdog_explain(struct running *r, char *out, size_t room);
/* Starts the thread. explain may be NULL. -1 with errno. */
int watchdog_start(watchdog_explain *explain);
/* Of those without a shorter one of their own; 0: no limit. */
void watchdog_set_limit(uint64_t limit_ms);
/* After running_begin(), and where it goes on after a rest. Costs a system call only where the watchdog would sleep for
   longer than it has time. */
void watchdog_wake(const struct running *r);
