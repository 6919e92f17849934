/* Do all work-items of a kernel node's work-groups come to each barrier and group operation? */
#pragma once

#include "fuser/plan/base/context.h"

/* Of a node that is valid otherwise. */
bool validate_barriers(struct plan_context *ctx, const struct fuser_node *node);
