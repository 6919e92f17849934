/* Nodes in which nothing happens: kernels over no work-items, copies and fills of no bytes. */
#pragma once

#include "fuser/plan/base/context.h"

struct empty_nodes {
    const struct fuser_graph *graph; /* without them */
    uint32_t n;
    uint32_t *given; /* where there are some: the numbers that nodes were given with; those of empty nodes come last */
};

/* What depends on one depends on what it depends on. False on a cycle of them. */
bool empty_nodes_leave_out(struct plan_context *ctx, const struct fuser_graph *g, struct empty_nodes *out);
/* At the end: nodes in the plan as the caller knows them, the empty ones last in the order. */
void empty_nodes_number_as_given(const struct empty_nodes *e, struct fuser_plan *plan);
