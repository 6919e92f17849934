/* Submitting a handle many times with one call. */
#include "client/base/error.h"
#include "client/exec/submit.h"
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

fusion_status fusion_exec_submit_times(fusion_exec *e, uint32_t count, const fusion_rebind *rebind, uint32_t n_rebind,
                                       const fusion_submit_options *options, fusion_event *event)
{
    if (!count) return client_error(FUSION_INVALID, "submission", "it is to run 0 times");
    if (e->n_actions) return submit_each(e, count, rebind, n_rebind, options, event);
    return client_submit_rounds(e, count, rebind, n_rebind, options, event);
}
