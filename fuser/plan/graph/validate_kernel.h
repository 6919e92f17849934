/* Does a kernel node fit its kernel and the device: arguments, range, sizes of groups, aspects? */
#pragma once

#include "fuser/plan/base/context.h"

bool validate_kernel_node(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node);
