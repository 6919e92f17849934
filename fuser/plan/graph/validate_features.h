/* Does the device have what a kernel requires? Before anything else is looked at: seed 004, "Changes to the runtime".
 */
#pragma once

#include "fuser/plan/base/context.h"

bool validate_features(struct plan_context *ctx, const struct fuser_node *node);
