/* The time limit of submissions: a thread that sleeps until the one that began first is due, not woken by each. */
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
static _Atomic uint32_t bell;      /* changes when there is something to look at */
static _Atomic uint32_t is_asleep; /* without a deadline */

static watchdog_explain *explain;

static void expire(struct running_seen *seen, uint64_t limit, uint64_t elapsed_ns)
{
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
        atomic_store(&is_asleep, 1);
        uint32_t heard = atomic_load(&bell);
        struct running_seen seen;
        uint64_t limit = atomic_load(&limit_ms);
        if (!limit || !running_see_oldest(&seen)) {
            wait_on(&bell, heard, 0);
            continue;
        }
        atomic_store(&is_asleep, 0);
        uint64_t elapsed = wait_now_ns() - seen.started_ns, limit_ns = limit * 1000000;
        if (elapsed < limit_ns)
            wait_on(&bell, heard, limit_ns - elapsed);
        else
            expire(&seen, limit, elapsed);
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

void watchdog_wake(void)
{
    if (!atomic_load(&is_asleep)) return;
    atomic_store(&is_asleep, 0);
    atomic_fetch_add(&bell, 1);
    wait_wake(&bell, 1);
}
