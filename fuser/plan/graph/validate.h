/* Is the graph well formed: indices, names, sizes, properties, kernels and their arguments? */
#pragma once

#include "fuser/plan/base/context.h"

bool validate_graph(struct plan_context *ctx, const struct fuser_graph *g);
