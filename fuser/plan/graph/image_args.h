/* Images as arguments of kernels: what the parameter's type says is what the kernel does with it. */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/graph/facts.h"

/* Argument i, whose parameter is an image. */
bool image_arg_check(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node, uint32_t i);
/* Arguments take the buffer as an image: what kernels do to it is not in sites. */
bool image_args_have(const struct fuser_graph *g, uint32_t buffer);
bool image_arg_is_use(const struct fuser_graph *g, const struct plan_use *use);
bool image_arg_is_read(ir_type type);
bool image_arg_is_written(ir_type type);
