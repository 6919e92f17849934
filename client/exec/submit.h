/* Submitting executables. */
#pragma once

#include "client/exec/exec.h"

/* Submissions, or commands that were recorded and submitted, that are to end before. */
struct submit_after {
    const fusion_event *events;
    uint32_t n;
};

/* Of one. FUSION_INVALID: its priority is none. NULL: none are given. */
fusion_status client_check_submit_options(const fusion_submit_options *given, fusion_submit_options *own);
/* What one submission runs: `first` so often, another executable of the same graph or NULL, then its own so often. More
   than one round there is only of an executable that is in one part. */
struct submit_rounds {
    fusion_exec *first;
    uint32_t n_first, n;
};
fusion_status client_submit_rounds(fusion_exec *exec, const struct submit_rounds *rounds, const fusion_rebind *rebind,
                                   uint32_t n_rebind, const fusion_submit_options *given, fusion_event *event);
/* Submits with slots and values replaced wholesale, by those of the graph. */
fusion_status client_submit_graph(fusion_exec *exec, const fusion_graph *graph, const struct submit_after *after,
                                  const fusion_submit_options *options, fusion_event *event);
/* The same, of an executable of one part, for the numbers reserved up to `last` (session/push.h). */
fusion_status client_submit_reserved(fusion_exec *exec, const fusion_graph *graph, const fusion_submit_options *options,
                                     fusion_event last);
/* What would be said of the graph's memory. */
fusion_status client_submit_check(fusion_exec *exec, const fusion_graph *graph);
