/* Taking submissions from the ring. */
#include "daemon/executor/ring/ring_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "daemon/executor/ring/submit.h"
#include "daemon/executor/run/exit_codes.h"
#include "daemon/executor/run/fault.h"
#include "daemon/executor/run/place.h"
#include "daemon/executor/run/wait.h"
#include "proto/ring_wait.h"

enum { SPIN_NS = 40000 }; /* after a submission: the next one is often on its way */

static struct {
    struct ring *ring;
    struct submitter *submitter;
    void (*corrupt)(const char *reason);
    _Atomic int end; /* the process ends with this code when nothing runs; EXECUTOR_GOES_ON */
} ring_thread;

/* One started in place of another gets that one's buffers and executables first: `resume` says when it has all. */
static void wait_until_running(struct ring *ring)
{
    enum { LOOK_NS = 1000000 };
    while (atomic_load(&ring->state) == RING_RESTARTING) wait_on(&ring->state, RING_RESTARTING, LOOK_NS);
}

/* by_priority: the next one that comes may be first. */
static void take(const uint8_t *entry, bool by_priority)
{
    (by_priority ? submit_hold : submit_take)(ring_thread.submitter, entry);
    place_is_own(ring_on_client_cpu(ring_thread.ring));
}

/* Takes no more where the process is to end, and ends it when all that was taken is complete. */
static bool takes_more(void)
{
    int end = atomic_load(&ring_thread.end);
    if (end == EXECUTOR_GOES_ON) return submit_has_room(ring_thread.submitter);
    if (submit_is_idle(ring_thread.submitter)) _exit(end);
    return false;
}

static void *run_ring(void *unused)
{
    static uint8_t entry[RING_MAX_ENTRY];
    struct ring *ring = ring_thread.ring;
    const char *reason = "";
    (void)unused;
    fault_thread_init();
    for (;;) {
        wait_until_running(ring);
        uint32_t seen = ring_entry_bell(ring);
        bool room = takes_more();
        int got = room ? ring_pop(ring, entry, &reason) : 0;
        bool by_priority = atomic_load_explicit(&ring->has_priorities, memory_order_relaxed);
        if (got < 0) break;
        if (got) take(entry, by_priority);
        if (got && by_priority) continue;
        if (submit_go_on(ring_thread.submitter, by_priority) || got) continue;
        if (room)
            ring_wait_entry(ring, seen, SPIN_NS, -1);
        else
            ring_wait_bell(ring, seen);
    }
    ring_thread.corrupt(reason);
    _exit(EXECUTOR_EXIT_CORRUPT);
}

int ring_thread_start(struct ring *ring, struct submitter *submitter, void (*corrupt)(const char *reason))
{
    pthread_t id;
    ring_thread.ring = ring;
    ring_thread.submitter = submitter;
    ring_thread.corrupt = corrupt;
    atomic_store(&ring_thread.end, EXECUTOR_GOES_ON);
    int error = pthread_create(&id, NULL, run_ring, NULL);
    if (!error) pthread_detach(id);
    return error;
}

void ring_thread_end(int code)
{
    atomic_store(&ring_thread.end, code);
    for (;;) {
        ring_wake_executor(ring_thread.ring);
        pause();
    }
}
