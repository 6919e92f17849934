/* The time limits of submissions: a thread that sleeps until the first one is due, not woken by each. */
#include "daemon/executor/run/watchdog.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/executor/run/exit_codes.h"
#include "daemon/executor/run/running.h"
#include "daemon/executor/run/wait.h"
#include "proto/include/fusiond/status.h"

static _Atomic uint64_t limit_ms;
static _Atomic uint32_t bell;         /* changes when there is something to look at */
static _Atomic uint64_t sleeps_until; /* 0: it is awake, or about to wake */

static watchdog_explain *explain;

static void expire(struct running_seen *seen, uint64_t due_ns)
{
    uint64_t limit = (due_ns - seen->started_ns) / 1000000, elapsed_ns = wait_now_ns() - seen->started_ns;
    if (!running_take_over(seen, 1)) return; /* done in the last moment */
    const char *kind, *name;
    char object[64], reason[420];
    running_what(seen, &kind, &name);
    snprintf(object, sizeof object, "%s %s", kind, name);
    int n = snprintf(reason, sizeof reason,
                     "ran into the time limit of %" PRIu64 " ms: %" PRIu64 " ms since its submission began", limit,
                     elapsed_ns / 1000000);
    if (explain) explain(seen->running, reason + n, sizeof reason - (size_t)n);
    running_fail(seen, FUSION_TIMEOUT, object, reason);
    _exit(EXECUTOR_EXIT_TIMEOUT);
}

static void *watch(void *unused)
{
    (void)unused;
    for (;;) {
        atomic_store(&sleeps_until, UINT64_MAX); /* who begins while it looks wakes it */
        uint32_t heard = atomic_load(&bell);
        struct running_seen seen;
        uint64_t due;
        if (!running_see_due(atomic_load(&limit_ms), &seen, &due)) {
            wait_on(&bell, heard, 0);
            continue;
        }
        uint64_t now = wait_now_ns();
        if (now >= due) {
            expire(&seen, due);
            continue;
        }
        atomic_store(&sleeps_until, due);
        wait_on(&bell, heard, due - now);
    }
    return NULL;
}

int watchdog_start(watchdog_explain *e)
{
    explain = e;
    pthread_t id;
    errno = pthread_create(&id, NULL, watch, NULL);
    if (errno) return -1;
    pthread_detach(id);
    return 0;
}

void watchdog_set_limit(uint64_t limit)
{
    enum { DAY_MS = 86400000 }; /* so that nanoseconds do not overflow */
    atomic_store(&limit_ms, limit < DAY_MS ? limit : DAY_MS);
    atomic_fetch_add(&bell, 1);
    wait_wake(&bell, 1);
}

void watchdog_wake(const struct running *r)
{
    if (running_due(r, atomic_load_explicit(&limit_ms, memory_order_relaxed)) >= atomic_load(&sleeps_until)) return;
    atomic_store(&sleeps_until, 0);
    atomic_fetch_add(&bell, 1);
    wait_wake(&bell, 1);
}
