/* Submitting executables. */
#pragma once

#include "client/exec/exec.h"

/* Submits with slots and values replaced wholesale, by those of the graph. */
fusion_status client_submit_graph(fusion_exec *exec, const fusion_graph *graph, fusion_event *event);
