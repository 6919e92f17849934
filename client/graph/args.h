/* Arguments of nodes. */
#pragma once

#include "client/graph/parts.h"

/* The node gets the arguments; what names their node in errors. kernel: whose parameters they fit; NULL: of none. */
fusion_status client_graph_args(fusion_graph *g, const char *what, const fusion_kernel_info *kernel,
                                const fusion_arg *args, uint32_t n_args, struct proto_node *n);
