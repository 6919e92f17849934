/* Entries on their way into the ring. */
#include "client/session/push.h"

#include <inttypes.h>
#include <unistd.h>

#include "client/base/error.h"
#include "client/session/fork.h"
#include "client/session/held.h"
#include "client/session/times.h"
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

/* What is pushed, and for which numbers. */
struct pushed {
    client_pusher *push;
    void *data;
    bool reserved; /* for those up to last */
    fusion_event last;
    uint64_t queued_ns;
};

/* One attempt; false: there is no room, or no executor. Session locked. */
static bool try_push(fusion_session *s, const struct pushed *p)
{
    uint64_t sequence = p->reserved ? p->last : s->next_sequence;
    if (!client_ring_is(s, RING_RUNNING)) return false;
    if (sequence > RING_MAX_PENDING) {
        if (!client_completed(s, sequence - RING_MAX_PENDING)) return false;
        client_keep_failure(s, sequence - RING_MAX_PENDING);
    }
    uint64_t submitted_ns = client_moment(s);
    if (!p->push(p->data, sequence)) return false;
    client_keep_moments(s, sequence, p->queued_ns, submitted_ns);
    if (sequence > s->next_reserved) client_keep_span(s, s->next_reserved, sequence);
    s->next_reserved = sequence + 1;
    if (!p->reserved) s->next_sequence++;
    return true;
}

/* Something is held back that comes before. Session locked. */
static bool is_before(const fusion_session *s, const struct pushed *p)
{
    return !p->reserved && s->next_reserved != s->next_sequence;
}

static fusion_status push_one(fusion_session *s, const struct pushed *p, fusion_event *event)
{
    if (client_is_foreign(s)) return client_foreign("submission");
    for (;;) {
        pthread_mutex_lock(&s->lock);
        uint64_t sequence = p->reserved ? p->last : s->next_sequence;
        bool waits = is_before(s, p);
        fusion_status status = check_ring(s, sequence);
        bool done = !waits && status == FUSION_SUCCESS && try_push(s, p);
        pthread_mutex_unlock(&s->lock);
        if (done && event) *event = sequence;
        if (done || status != FUSION_SUCCESS) return status;
        if (client_ring_is(s, RING_CLOSED)) return client_closed(s);
        if (client_daemon_gone(s)) return client_error(FUSION_CONNECTION, "submission", "fusiond has ended");
        if (waits)
            client_flush(s);
        else if (client_ring_is(s, RING_RUNNING))
            ring_wait(s->ring, atomic_load(&s->ring->completed) + 1, CLIENT_WAIT_SLICE_MS);
        else
            usleep(RESTART_LOOK_US);
    }
}

fusion_status client_push(fusion_session *s, client_pusher *push, void *data, fusion_event *event)
{
    return push_one(s, &(struct pushed){.push = push, .data = data, .queued_ns = client_moment(s)}, event);
}

/* ---- held back ---- */

fusion_status client_push_reserved(fusion_session *s, client_pusher *push, void *data, fusion_event last)
{
    return push_one(s, &(struct pushed){push, data, .reserved = true, .last = last, .queued_ns = client_moment(s)},
                    NULL);
}

static bool push_nothing(void *data, uint64_t sequence)
{
    fusion_session *s = data;
    const struct ring_entry entry = {.size = sizeof entry, .sequence = sequence};
    return ring_push(s->ring, &entry, NULL, 0);
}

void client_fail_reserved(fusion_session *s)
{
    pthread_mutex_lock(&s->lock);
    fusion_event event = s->next_reserved;
    client_add_failure(s, event);
    pthread_mutex_unlock(&s->lock);
    client_push_reserved(s, push_nothing, s, event); /* where that fails as well, who waits finds the session ended */
}
