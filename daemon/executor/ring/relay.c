/* Passing submissions on. */
#include "daemon/executor/ring/relay.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "daemon/executor/ring/completion.h"
#include "daemon/executor/ring/ring_memory.h"
#include "ir/base/map.h"
#include "proto/include/fusiond/status.h"
#include "proto/limits.h"
#include "proto/ring_wait.h"

static struct {
    pthread_mutex_t lock;
    struct map executables;
    struct ring *_Atomic ring; /* NULL: nothing is passed on yet */
} relay;

void relay_init(void)
{
    pthread_mutex_init(&relay.lock, NULL);
}

static int open_ring(int *fd, struct error *e)
{
    if (relay.ring) return 0;
    relay.ring = ring_memory_map(*fd);
    if (relay.ring) *fd = -1;
    return relay.ring ? 0 : error_set(e, FUSION_INTERNAL, "ring", "that of the executor for GPUs cannot be mapped");
}

int relay_add(uint64_t executable, int *ring_fd, struct error *e)
{
    int result = open_ring(ring_fd, e);
    if (result != 0 || !executable) return result;
    pthread_mutex_lock(&relay.lock);
    if (relay.executables.count >= PROTO_MAX_EXECUTABLES)
        result = error_set_id(e, FUSION_OUT_OF_MEMORY, "executable", executable, "there are too many");
    if (result == 0 && !map_put(&relay.executables, executable, &relay))
        result = error_set_id(e, FUSION_OUT_OF_MEMORY, "executable", executable, "no memory in the executor");
    pthread_mutex_unlock(&relay.lock);
    return result;
}

bool relay_remove(uint64_t executable)
{
    pthread_mutex_lock(&relay.lock);
    bool there = map_remove(&relay.executables, executable);
    pthread_mutex_unlock(&relay.lock);
    return there;
}

bool relay_is_open(void)
{
    return relay.ring;
}

bool relay_has(uint64_t executable)
{
    if (!relay.ring) return false;
    pthread_mutex_lock(&relay.lock);
    bool there = map_find(&relay.executables, executable);
    pthread_mutex_unlock(&relay.lock);
    return there;
}

/* ---- running ---- */

/* What is submitted to one that is about to be replaced would fail with it. */
static void wait_for_executor(struct ring *ring)
{
    enum { SLICE_MS = 50 };
    while (atomic_load(&ring->state) == RING_RESTARTING) ring_wait(ring, UINT64_MAX, SLICE_MS);
}

/* As nothing else is under way in that ring, there is room; but for what an executor that died has left behind. */
static bool push(struct ring *ring, const uint8_t *entry, uint64_t *sequence)
{
    struct ring_entry header;
    memcpy(&header, entry, sizeof header);
    *sequence = header.sequence = atomic_load(&ring->pushed) + 1;
    atomic_store_explicit(&ring->client_cpu, (uint32_t)(sched_getcpu() + 1), memory_order_relaxed);
    return ring_push(ring, &header, entry + sizeof header, header.size - sizeof header);
}

static void pass_prints(struct ring *ring)
{
    char text[4096];
    size_t n;
    while ((n = ring_take_print(ring, text, sizeof text)) > 0) completion_print(text, n, 0);
}

/* Of the one submission that was under way. */
static void pass_times(struct ring *ring, uint64_t sequence)
{
    struct ring_time times[16];
    uint32_t n;
    while ((n = ring_take_times(ring, times, 16)) > 0)
        for (uint32_t i = 0; i < n; i++) {
            times[i].sequence = sequence;
            completion_time(&times[i]);
        }
}

static int read_completion(const struct ring *ring, uint64_t sequence, uint64_t *run_ns, struct error *e)
{
    const struct ring_completion *c = &ring->completions[sequence % RING_MAX_PENDING];
    struct ring_failure why;
    *run_ns = c->run_ns;
    uint32_t status = c->status;
    if (status == FUSION_SUCCESS) return 0;
    memcpy(&why, &ring->failures[sequence % RING_MAX_PENDING], sizeof why);
    why.object[sizeof why.object - 1] = why.reason[sizeof why.reason - 1] = 0;
    return error_set(e, (int)status, why.object, "%s", why.reason);
}

int relay_run(const uint8_t *entry, uint64_t *run_ns, struct error *e)
{
    struct ring *ring = relay.ring;
    uint64_t sequence;
    *run_ns = 0;
    struct ring_entry header;
    memcpy(&header, entry, sizeof header);
    atomic_store_explicit(&ring->wants_times, completion_wants_times(), memory_order_relaxed);
    wait_for_executor(ring);
    if (!push(ring, entry, &sequence))
        return error_set(e, FUSION_EXECUTOR, "submission", "there is no room in the ring of the executor for GPUs");
    /* An executor that dies, and is replaced, changes the state: then its submission has failed, or is run by the next.
     */
    while (!ring_wait(ring, sequence, -1))
        if (atomic_load(&ring->state) == RING_CLOSED)
            return error_set(e, FUSION_EXECUTOR, "submission", "the executor for GPUs has gone");
    pass_prints(ring);
    pass_times(ring, header.sequence);
    completion_moved(atomic_load(&ring->to_device), atomic_load(&ring->from_device));
    return read_completion(ring, sequence, run_ns, e);
}
