/* Events, for callers: of submissions, or of commands that were recorded. */
#include <inttypes.h>

#include "client/base/error.h"
#include "client/graph/recording.h"
#include "client/session/fork.h"
#include "client/session/held.h"
#include "client/session/wait.h"

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
