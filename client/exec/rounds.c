/* Submitting a handle many times with one call. */
#include "client/base/error.h"
#include "client/exec/round_plan.h"
#include "client/exec/submit.h"
#include "client/session/fork.h"
#include "client/session/wait.h"

/* What is in parts, with something between them that this process does, is submitted round by round. */
static fusion_status submit_each(fusion_exec *e, uint32_t count, const fusion_rebind *rebind, uint32_t n_rebind,
                                 const fusion_submit_options *options, fusion_event *event)
{
    fusion_event last;
    for (uint32_t i = 1; i < count; i++) {
        fusion_status status = fusion_exec_submit_with(e, rebind, n_rebind, options, &last);
        if (status == FUSION_SUCCESS) status = client_wait(e->session, last, -1, NULL);
        if (status != FUSION_SUCCESS) return status;
    }
    return fusion_exec_submit_with(e, rebind, n_rebind, options, event);
}

/* As many as go by the plan of several rounds, where there is one; the others by themselves. Times are of steps of the
   executable that the caller knows, and what a device has comes back as that one uses it. */
static struct submit_rounds divide(fusion_exec *e, uint32_t count)
{
    fusion_session *s = e->session;
    struct submit_rounds r = {.n = count};
    if (count == 1 || s->uses_gpus || client_is_foreign(s) || atomic_load(&s->ring->wants_times)) return r;
    fusion_exec *several = client_round_plan_get(e, 0);
    if (!several) return r;
    uint32_t together = e->rounds.n;
    return (struct submit_rounds){.first = several, .n_first = count / together, .n = count % together};
}

fusion_status fusion_exec_submit_times(fusion_exec *e, uint32_t count, const fusion_rebind *rebind, uint32_t n_rebind,
                                       const fusion_submit_options *options, fusion_event *event)
{
    if (!count) return client_error(FUSION_INVALID, "submission", "it is to run 0 times");
    if (e->n_actions) return submit_each(e, count, rebind, n_rebind, options, event);
    const struct submit_rounds rounds = divide(e, count);
    return client_submit_rounds(e, &rounds, rebind, n_rebind, options, event);
}

fusion_status fusion_exec_rounds(fusion_exec *e, int timeout_ms, uint32_t *rounds, const fusion_report **report)
{
    if (client_is_foreign(e->session)) return client_foreign("executable");
    const fusion_exec *several = client_round_plan_get(e, timeout_ms);
    if (!several && client_round_plan_pending(e))
        return client_error(FUSION_TIMEOUT, "executable", "the plan of several rounds was not made after %d ms",
                            timeout_ms);
    *rounds = several ? e->rounds.n : 1;
    if (report) *report = several ? &several->report : NULL;
    return FUSION_SUCCESS;
}
