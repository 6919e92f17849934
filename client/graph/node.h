/* The steps of adding a node that commands of all kinds share. */
#pragma once

#include "client/graph/parts.h"

fusion_status client_graph_deps(struct proto_node *n, const fusion_node *deps, uint32_t n_deps);
/* More of them. */
fusion_status client_node_add_deps(struct proto_node *n, const fusion_node *on, uint32_t n_on);
fusion_status client_graph_name(fusion_graph *g, const char *given, const char *base, char **name);
/* Puts a node with all that it needs into the graph. Where status is a failure, or this fails, it frees the node, and
   the graph is as it was before. */
fusion_status client_graph_append(fusion_graph *g, struct proto_node *n, fusion_status status, fusion_node *node);
/* The same of a node that lacks dependences and name (base where name is NULL). */
fusion_status client_graph_add(fusion_graph *g, struct proto_node *n, fusion_status status, const char *name,
                               const char *base, const fusion_node *depends_on, uint32_t n_depends_on,
                               fusion_node *node);
void client_graph_take_back(fusion_graph *g); /* the node added last */
