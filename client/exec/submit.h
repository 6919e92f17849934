/* Submitting executables. */
#pragma once

#include "client/exec/exec.h"

/* Submissions, or commands that were recorded and submitted, that are to end before. */
struct submit_after {
    const fusion_event *events;
    uint32_t n;
};

/* Submits with slots and values replaced wholesale, by those of the graph. */
fusion_status client_submit_graph(fusion_exec *exec, const fusion_graph *graph, const struct submit_after *after,
                                  fusion_event *event);
/* The same, of an executable of one part, for the numbers reserved up to `last` (session/push.h). */
fusion_status client_submit_reserved(fusion_exec *exec, const fusion_graph *graph, fusion_event last);
/* What would be said of the graph's memory. */
fusion_status client_submit_check(fusion_exec *exec, const fusion_graph *graph);
