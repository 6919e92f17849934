/* Edges: which nodes a node waits for. */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/graph/facts.h"

struct plan_edges {
    uint32_t *successors_start; /* n_nodes + 1 */
    uint32_t *successors;
    uint32_t *n_predecessors;
};

void edges_find(struct plan_context *ctx, const struct plan_facts *f, struct plan_edges *out);
