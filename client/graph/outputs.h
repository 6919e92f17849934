/* What of a graph is read after it. */
#pragma once

#include "client/graph/parts.h"

/* The same as of another graph. */
fusion_status client_graph_copy_outputs(fusion_graph *g, const fusion_graph *from);
/* Says of each slot, for the wire, whether it is none of those declared. */
void client_graph_describe_outputs(fusion_graph *g);
