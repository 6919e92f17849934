/* What an executable does in this process, between the parts that the executor runs. */
#pragma once

#include "client/exec/entry.h"

/* From the order of the nodes of graph. */
fusion_status client_exec_take_actions(fusion_exec *e, const fusion_graph *graph);
/* Runs number `index`, which is no graph; bindings are those of the submission, last is its event so far (0: none). */
fusion_status client_exec_act(fusion_exec *e, uint32_t index, const struct binding *bindings, fusion_event last);
