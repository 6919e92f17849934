/* When steps ran, as executors tell it in the ring. */
#include <fusiond/profile.h>
#include <stdatomic.h>

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
