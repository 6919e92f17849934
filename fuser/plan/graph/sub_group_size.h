/* Sub-group sizes: what kernels ask for, as numbers that the device has. */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/base/node_run.h"
#include "fuser/plan/graph/facts.h"

/* The device has the size that the kernel asks for; else it fails. */
bool sub_group_size_known(struct plan_context *ctx, const struct fuser_node *node);
bool sub_group_size_check(struct plan_context *ctx, const struct fuser_node *node);
/* What the kernel's sub-groups have wherever it runs. */
uint32_t sub_group_size_of_kernel(const struct fuser_device *device, const struct ir_function *kernel);
/* Work-items of the work-groups that a kernel asks for by a number of sub-groups; 0: it does not. */
uint64_t sub_group_size_items(const struct fuser_device *device, const struct ir_function *kernel);
/* What a kernel node needs; 0: any does. */
uint32_t sub_group_size_of_node(const struct plan_facts *f, uint32_t node);
/* Of one launch of nodes that agree; 0: it makes no difference. */
uint32_t sub_group_size_of_run(const struct plan_facts *f, struct node_run run);
