/* Events, for callers: of submissions, or of commands that were recorded. */
#include <inttypes.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/graph/recording.h"
#include "client/session/fork.h"
#include "client/session/held.h"
#include "client/session/times.h"
#include "client/session/wait.h"
#include "client/session/watcher.h"

static fusion_status check_event(fusion_session *s, fusion_event event)
{
    pthread_mutex_lock(&s->lock);
    uint64_t next = s->next_sequence;
    pthread_mutex_unlock(&s->lock);
    if (event != 0 && event < next) return FUSION_SUCCESS;
    return client_error(FUSION_INVALID, "event", "%" PRIu64 " is no submission of this session (1 to %" PRIu64 ")",
                        event, next - 1);
}

fusion_status fusion_event_wait(fusion_session *s, fusion_event event, int timeout_ms, uint64_t *run_ns)
{
    fusion_status status = client_event_resolve(s, &event);
    if (status == FUSION_SUCCESS) status = check_event(s, event);
    return status == FUSION_SUCCESS ? client_wait(s, event, timeout_ms, run_ns) : status;
}

/* Of a submission, by its number. */
static fusion_status find_event(fusion_session *s, fusion_event *event)
{
    fusion_status status = client_event_resolve(s, event);
    if (status == FUSION_SUCCESS) status = check_event(s, *event);
    if (status != FUSION_SUCCESS) return status;
    if (client_is_foreign(s)) return client_foreign("submission");
    client_flush(s);
    return FUSION_SUCCESS;
}

fusion_status fusion_event_on_complete(fusion_session *s, fusion_event event, fusion_event_function *function,
                                       void *data)
{
    if (!function) return client_error(FUSION_INVALID, "event", "there is no function to be called");
    fusion_status status = find_event(s, &event);
    return status == FUSION_SUCCESS ? client_watch(s, event, function, data) : status;
}

fusion_status fusion_event_cancel(fusion_session *s, fusion_event event)
{
    fusion_status status = find_event(s, &event);
    return status == FUSION_SUCCESS ? client_cancel(s, event) : status;
}

fusion_status fusion_event_times_get(fusion_session *s, fusion_event event, fusion_event_times *times)
{
    fusion_event_times own = {0};
    fusion_status status = find_event(s, &event);
    if (status == FUSION_SUCCESS && !client_ended(s, event))
        status = client_error(FUSION_BUSY, "event", "submission %" PRIu64 " is not complete yet", event);
    if (status == FUSION_SUCCESS) status = client_times_of(s, event, &own);
    return status == FUSION_SUCCESS ? CLIENT_GIVE(fusion_event_times, ended_ns, &own, times, "event times") : status;
}

fusion_status fusion_event_poll(fusion_session *s, fusion_event event)
{
    fusion_status status = client_event_resolve(s, &event);
    if (status == FUSION_SUCCESS) status = check_event(s, event);
    if (status != FUSION_SUCCESS) return status;
    if (client_is_foreign(s)) return client_foreign("submission");
    client_flush(s);
    if (client_ended(s, event)) return client_outcome(s, event, NULL);
    if (client_daemon_gone(s)) return client_error(FUSION_CONNECTION, "submission", "fusiond ended");
    return client_error(FUSION_BUSY, "submission", "submission %" PRIu64 " is not complete yet", event);
}
