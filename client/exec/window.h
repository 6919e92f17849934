/* Commands that a queue gathers before it submits them. */
#pragma once

#include "client/exec/exec.h"
#include "client/graph/recording.h"

/* All of these with turn_lock and the queue's lock held. */

/* The queue gathers, and the command, which is the graph's only node, can be one of a window. */
bool client_window_takes(const fusion_queue *q, const fusion_graph *graph);
/* Takes the graph where it succeeds; exec runs it by itself, and stays until the window is submitted. event: the number
   that it will have. */
fusion_status client_window_add(fusion_queue *q, fusion_exec *exec, fusion_graph *graph, fusion_event *event);
void client_window_submit(fusion_queue *q); /* what there is */

void client_window_free(fusion_queue *q); /* memory only */
void client_window_end(fusion_queue *q);  /* its executables */
