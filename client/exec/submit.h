/* Submitting executables. */
#pragma once

#include "client/exec/exec.h"

/* Submits with slots and values replaced wholesale, by those of the graph. */
fusion_status client_submit_graph(fusion_exec *exec, const fusion_graph *graph, fusion_event *event);
/* The same, of an executable of one part, for the numbers reserved up to `last` (session/push.h). */
fusion_status client_submit_reserved(fusion_exec *exec, const fusion_graph *graph, fusion_event last);
/* What would be said of the graph's memory. */
fusion_status client_submit_check(fusion_exec *exec, const fusion_graph *graph);
