/*
 * Planning: a graph comes in, a plan of launches goes out. plan.c has the stages in their order; each is a room:
 *   graph/     is the graph well formed, what does each node do with each buffer, which node waits for which
 *   commands/  copies and fills that a kernel can do by the way
 *   recompute/ readers that compute what they would read
 *   order/     the linear order
 *   mapping/   which work-item of a launch is which of its kernels'
 *   grouping/  which kernels become a launch
 *   storage/   which buffers of a launch lose their memory, and where they live instead
 *   pipes/     how packets go from one kernel of a launch to another, if not through a pipe
 *   launch/    the kernel of each launch, its parameters, the steps
 *   bands/     launches that run a few rows of each at a time
 * base/ is what all of them share: the result, the error, remarks. Uses access/, merge/, passes/ and ir/.
 */
#pragma once

#include "fuser/plan/base/result.h"
#include "ir/base/error.h"

/* Plans a graph: edges from accesses and deps, linear order, groups, one kernel per group, internalization,
   clean-up. The graph is only read and may be freed after. NULL on error (error is filled in; error->code
   is never FUSER_OK then). Deterministic: the same graph and options give the same plan. */
struct fuser_plan *fuser_plan_new(const struct fuser_graph *graph, const struct fuser_options *options,
                                  struct error *error);
void fuser_plan_free(struct fuser_plan *plan); /* NULL is fine */
