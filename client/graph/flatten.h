/* Graphs as nodes of graphs. */
#pragma once

#include "client/graph/parts.h"

/* The nodes of `from` become nodes of graph, too, as if they had been added to it. */
fusion_status client_graph_take_nodes(fusion_graph *graph, const fusion_graph *from);
/* One with the same slots, values and nodes, that the session does not know. NULL: an error is recorded. */
fusion_graph *client_graph_copy(const fusion_graph *graph);
/* graph with the graphs inside it that are fused with it, or by nobody, in place of their nodes: graph itself where
   there are none. NULL: an error is recorded. */
fusion_graph *client_graph_flatten(fusion_graph *graph, fusion_mode mode);
