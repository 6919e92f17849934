/*
 * Buffers between kernels that are computed again instead of read: where a kernel reads at other elements than its own
 * what an earlier one made of a few operations, it can as well compute them itself.
 *
 * This room takes the facts of the graph and gives a graph in which such a reader is a kernel that does the writer's
 * work too (fuser/recompute/compose.h), and the writer is no node any more. What the plan says of nodes is put back to
 * those that were given at the end. fuser/cost says whether it is worth it.
 */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/graph/edges.h"
#include "fuser/plan/order/order.h"
#include "fuser/plan/recompute/recomputed.h"

/* edges, order: of the graph as it was given. False on an error. */
bool recompute_find(struct plan_context *ctx, const struct plan_facts *facts, const struct plan_edges *edges,
                    const struct plan_order *order, struct recomputed *out);
void recompute_free(struct recomputed *r);
