/* Loops that nothing leaves: a submission with one runs into its time limit. */
#pragma once

#include "fuser/plan/base/context.h"

/* A remark on each kernel with one. */
void endless_loops_remark(struct plan_context *ctx, const struct fuser_graph *g);
