/*
 * The linear order: it depends on the graph alone, not on the sequence in which unrelated nodes were recorded.
 *
 * This room takes facts and edges and gives the order; for groups that were chosen, the order around them
 * (linearize.h).
 */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/base/node_run.h"
#include "fuser/plan/graph/edges.h"
#include "fuser/plan/graph/facts.h"

struct plan_order {
    uint32_t n;
    uint32_t *nodes;
    uint32_t *position;       /* of each node in nodes */
    uint32_t *by_rank, *rank; /* nodes by depth, then name: the same however the graph was recorded */
    uint32_t *depth;          /* of each node: the longest path to it */
};

/* False on a cycle. */
bool order_find(struct plan_context *ctx, const struct plan_facts *facts, const struct plan_edges *edges,
                struct plan_order *out);

/* Is the node one of the run, which is a part of the order? */
static inline bool order_run_has(const struct plan_order *o, struct node_run run, uint32_t node)
{
    const uint32_t *at = &o->nodes[o->position[node]];
    return at >= run.nodes && at < run.nodes + run.n;
}
