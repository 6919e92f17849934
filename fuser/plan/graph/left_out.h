/* Graphs without the nodes that nothing has to be done for. */
#pragma once

#include "fuser/plan/base/context.h"

struct left_out {
    const struct fuser_graph *graph; /* without them */
    uint32_t n;
    uint32_t *given; /* where there are some: the numbers that nodes were given with; those left out come last */
};

/* Without the nodes that `out` says. What depends on one depends on what it depends on. False on a cycle of them. */
bool left_out_without(struct plan_context *ctx, const struct fuser_graph *g, const bool *out, struct left_out *left);
/* Without those in which nothing happens: kernels over no work-items, copies and fills of no bytes. */
bool left_out_empty(struct plan_context *ctx, const struct fuser_graph *g, struct left_out *left);
/* At the end: nodes in the plan as the caller knows them, those left out last in the order. */
void left_out_number_as_given(const struct left_out *e, struct fuser_plan *plan);
