/* Commands that a queue gathers before it submits them. */
#pragma once

#include "client/exec/exec.h"
#include "client/graph/recording.h"
#include "client/queue/handles.h"

/* All of these with the session's turn_lock held. */

/* The queue gathers, and the command, which is the graph's only node, can be one of a window. */
bool client_window_takes(const fusion_queue *q, const fusion_graph *graph);
/* Takes the graph and the handle, which runs it by itself, where it succeeds. event: the number that it will have. */
fusion_status client_window_add(fusion_queue *q, struct queue_handle *handle, fusion_graph *graph, fusion_event *event);
void client_window_submit(fusion_queue *q); /* what there is */
void client_window_end(fusion_queue *q);    /* that, and then its executables */

void client_window_free(fusion_queue *q); /* memory only; without a lock */
