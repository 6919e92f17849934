/* Sub-group sizes: what kernels ask for, as numbers that the device has. */
#include "fuser/plan/graph/sub_group_size.h"

#include <stdio.h>

static bool has_size(const struct fuser_device *device, uint32_t size)
{
    for (uint32_t i = 0; i < device->n_sub_group_sizes; i++)
        if (device->sub_group_sizes[i] == size) return true;
    return false;
}

/* "1, 4, 8", or "none". */
static const char *sizes_text(const struct fuser_device *device, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", device->n_sub_group_sizes ? "" : "none");
    for (uint32_t i = 0; i < device->n_sub_group_sizes && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%u", i ? ", " : "", device->sub_group_sizes[i]);
    return text;
}

/* No attribute, and automatic, are the primary size: what a kernel is alone it is beside any other. */
uint32_t sub_group_size_of_kernel(const struct fuser_device *device, const struct ir_function *kernel)
{
    uint32_t asked = kernel->sub_group_size;
    return asked && asked != IR_SUB_GROUP_AUTOMATIC && asked != IR_SUB_GROUP_PRIMARY ? asked
                                                                                     : device->primary_sub_group_size;
}

uint64_t sub_group_size_items(const struct fuser_device *device, const struct ir_function *kernel)
{
    return (uint64_t)kernel->sub_groups_per_work_group * sub_group_size_of_kernel(device, kernel);
}

/* Work-items of the work-groups that a node has without that; 0: any. */
static uint64_t given_items(const struct fuser_node *node)
{
    const struct nd_range *r = &node->range;
    const uint32_t *required = node->kernel->work_group_size;
    if (r->local[0]) return r->local[0] * r->local[1] * r->local[2];
    return (uint64_t)required[0] * required[1] * required[2];
}

/* The last sub-group of a work-group may be incomplete. */
static bool check_number(struct plan_context *ctx, const struct fuser_node *node)
{
    typedef unsigned long long ull;
    const struct ir_function *k = node->kernel;
    const struct fuser_device *device = &ctx->options->device;
    uint32_t size = sub_group_size_of_kernel(device, k), n = k->sub_groups_per_work_group;
    uint64_t items = given_items(node);
    if (!n || !size) return true;
    uint64_t there = (items + size - 1) / size;
    if (items && there != n)
        return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                         "work-groups of %llu work-items are %llu sub-groups of %u, but kernel %s requires %u",
                         (ull)items, (ull)there, size, k->name, n);
    if (items || sub_group_size_items(device, k) <= device->max_work_group_size) return true;
    return plan_fail(
        ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", node->name,
        "kernel %s requires work-groups of %u sub-groups of %u work-items; device %s allows %llu work-items", k->name,
        n, size, device->name, (ull)device->max_work_group_size);
}

bool sub_group_size_known(struct plan_context *ctx, const struct fuser_node *node)
{
    const struct fuser_device *device = &ctx->options->device;
    uint32_t size = node->kernel->sub_group_size;
    char sizes[128];
    if (size == 0 || size == IR_SUB_GROUP_AUTOMATIC) return true;
    if (size == IR_SUB_GROUP_PRIMARY) {
        if (device->primary_sub_group_size) return true;
        return plan_fail(ctx, FUSER_FEATURE_NOT_SUPPORTED, "node", node->name,
                         "kernel %s asks for the primary sub-group size, but device %s has none", node->kernel->name,
                         device->name);
    }
    if (has_size(device, size)) return true;
    return plan_fail(ctx, FUSER_FEATURE_NOT_SUPPORTED, "node", node->name,
                     "kernel %s requires sub-groups of %u, which device %s lacks; its sizes are %s", node->kernel->name,
                     size, device->name, sizes_text(device, sizes, sizeof sizes));
}

bool sub_group_size_check(struct plan_context *ctx, const struct fuser_node *node)
{
    return sub_group_size_known(ctx, node) && check_number(ctx, node);
}

/* Nothing is needed where the kernel cannot tell the difference. */
uint32_t sub_group_size_of_node(const struct plan_facts *f, uint32_t node)
{
    const struct ir_function *kernel = f->graph->nodes[node].kernel;
    bool asks = kernel->sub_group_size && kernel->sub_group_size != IR_SUB_GROUP_AUTOMATIC;
    return asks || f->nodes[node].access->has_sub_groups ? sub_group_size_of_kernel(f->device, kernel) : 0;
}

/* That of all kernels that have one. */
uint32_t sub_group_size_of_run(const struct plan_facts *f, struct node_run run)
{
    uint32_t size = 0;
    for (uint32_t i = 0; i < run.n && !size; i++) size = sub_group_size_of_node(f, run.nodes[i]);
    return size;
}
