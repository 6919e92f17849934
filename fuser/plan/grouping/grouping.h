/* What the files that group kernels work on. */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/graph/edges.h"
#include "fuser/plan/graph/program_scope.h"
#include "fuser/plan/mapping/id_mapping.h"
#include "fuser/plan/order/order.h"

struct grouping {
    struct plan_context *ctx;
    const struct program_scope *scope;
    const struct plan_facts *facts;
    const struct plan_edges *edges;
    struct id_mapping *mapping;
    const struct cost_work *alike; /* by node: of all of its range, at its depth (unlike.h) */
    const uint32_t *depth;         /* of each node */
};

static inline const char *grouping_node_name(const struct grouping *g, uint32_t node)
{
    return g->facts->graph->nodes[node].name;
}

static inline bool grouping_is_kernel(const struct grouping *g, uint32_t node)
{
    return g->facts->graph->nodes[node].kind == FUSER_NODE_KERNEL;
}
