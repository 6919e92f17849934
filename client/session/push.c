/* Entries on their way into the ring. */
#include "client/session/push.h"

#include <inttypes.h>
#include <unistd.h>

#include "client/base/error.h"
#include "client/session/fork.h"
#include "client/session/wait.h"
#include "proto/ring_wait.h"

enum { RESTART_LOOK_US = 500 };

/* What the ring says that cannot be. */
static fusion_status check_ring(const fusion_session *s, uint64_t sequence)
{
    if (atomic_load(&s->ring->state) > RING_CLOSED)
        return client_error(FUSION_PROTOCOL, "submission", "the submission ring is in a state that there is none of");
    if (client_completed(s, sequence))
        return client_error(FUSION_PROTOCOL, "submission",
                            "fusiond says that submission %" PRIu64 " is complete before it was made", sequence);
    return FUSION_SUCCESS;
}

/* One attempt; false: there is no room, or no executor. Session locked. */
static bool try_push(fusion_session *s, client_pusher *push, void *data)
{
    uint64_t sequence = s->next_sequence;
    if (!client_ring_is(s, RING_RUNNING)) return false;
    if (sequence > RING_MAX_PENDING) {
        if (!client_completed(s, sequence - RING_MAX_PENDING)) return false;
        client_keep_failure(s, sequence - RING_MAX_PENDING);
    }
    if (!push(data, sequence)) return false;
    s->next_sequence++;
    return true;
}

fusion_status client_push(fusion_session *s, client_pusher *push, void *data, fusion_event *event)
{
    if (client_is_foreign(s)) return client_foreign("submission");
    for (;;) {
        pthread_mutex_lock(&s->lock);
        uint64_t sequence = s->next_sequence;
        fusion_status status = check_ring(s, sequence);
        bool done = status == FUSION_SUCCESS && try_push(s, push, data);
        pthread_mutex_unlock(&s->lock);
        if (done && event) *event = sequence;
        if (done || status != FUSION_SUCCESS) return status;
        if (client_ring_is(s, RING_CLOSED)) return client_closed(s);
        if (client_daemon_gone(s)) return client_error(FUSION_CONNECTION, "submission", "fusiond has ended");
        if (client_ring_is(s, RING_RUNNING))
            ring_wait(s->ring, atomic_load(&s->ring->completed) + 1, CLIENT_WAIT_SLICE_MS);
        else
            usleep(RESTART_LOOK_US);
    }
}
