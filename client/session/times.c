/* When submissions and their steps ran, as executors tell it in the ring. */
#include "client/session/times.h"

#include <fusiond/profile.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "client/base/error.h"
#include "client/session/fork.h"
#include "client/session/state.h"
#include "proto/ring.h"

fusion_status fusion_session_set_profiling(fusion_session *s, bool on)
{
    if (!s || !s->ring) return client_error(FUSION_INVALID, "session", "there is none");
    if (client_is_foreign(s)) return client_foreign("session");
    atomic_store(&s->ring->wants_times, on);
    return FUSION_SUCCESS;
}

/* ---- of whole submissions ---- */

uint64_t client_moment(const fusion_session *s)
{
    struct timespec now;
    if (!atomic_load_explicit(&s->ring->wants_times, memory_order_relaxed)) return 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void client_keep_moments(fusion_session *s, fusion_event event, uint64_t queued_ns, uint64_t submitted_ns)
{
    if (!queued_ns || !submitted_ns) return;
    if (!s->moments) s->moments = calloc(RING_MAX_PENDING, sizeof *s->moments);
    if (s->moments) s->moments[event % RING_MAX_PENDING] = (struct client_moments){event, queued_ns, submitted_ns};
}

fusion_status client_times_of(fusion_session *s, fusion_event event, fusion_event_times *times)
{
    const struct ring_completion *c = &s->ring->completions[event % RING_MAX_PENDING];
    pthread_mutex_lock(&s->lock);
    struct client_moments m = s->moments ? s->moments[event % RING_MAX_PENDING] : (struct client_moments){0};
    bool known = m.event == event && atomic_load(&c->sequence) == event && c->ended_ns && c->run_ns <= c->ended_ns;
    if (known)
        *times = (fusion_event_times){.queued_ns = m.queued_ns,
                                      .submitted_ns = m.submitted_ns,
                                      .started_ns = c->ended_ns - c->run_ns,
                                      .ended_ns = c->ended_ns};
    pthread_mutex_unlock(&s->lock);
    if (known) return FUSION_SUCCESS;
    return client_error(FUSION_NOT_FOUND, "event", "the times of submission %" PRIu64 " were not taken, or are gone",
                        event);
}

/* ---- of steps ---- */

uint32_t fusion_session_take_times(fusion_session *s, fusion_step_time *times, uint32_t room)
{
    struct ring_time time;
    uint32_t n = 0;
    if (!s || !s->ring || client_is_foreign(s)) return 0;
    pthread_mutex_lock(&s->lock);
    for (; n < room && ring_take_times(s->ring, &time, 1); n++)
        times[n] = (fusion_step_time){time.sequence, time.step, time.n_steps, time.began_ns, time.ended_ns};
    pthread_mutex_unlock(&s->lock);
    return n;
}
