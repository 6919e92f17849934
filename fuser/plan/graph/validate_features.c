/* The four checks of seed 004 in its order: fixed targets, aspects, sub-group sizes, the work-group size. They are
   about the kernel and all that it reaches, and of the launch only about its kernel. */
#include "fuser/plan/graph/validate_features.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/plan/graph/sub_group_size.h"
#include "ir/features/requirements.h"

/* Every device is made code for where it is: the target of code that still has to be compiled. */
static const char any_device[] = "spir64";

static bool is_target(const struct fuser_device *device, const char *name)
{
    if (device->name && strcmp(device->name, name) == 0) return true;
    for (uint32_t i = 0; i < device->n_targets; i++)
        if (strcmp(device->targets[i], name) == 0) return true;
    return false;
}

static bool fail_targets(struct plan_context *ctx, const struct fuser_node *node, const char *option,
                         const char *const *targets, uint32_t n)
{
    char *names = ir_target_names(targets, n);
    for (char *p = strstr(names, ", "); p; p = strstr(p, ", ")) memmove(p + 1, p + 2, strlen(p + 2) + 1);
    plan_fail(ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", node->name,
              "Kernel was compiled with '%s=%s' but was submitted to a different device.", option, names);
    free(names);
    return false;
}

static bool check_targets(struct plan_context *ctx, const struct fuser_node *node, const struct ir_requirements *r)
{
    for (uint32_t i = 0; i < r->n_targets; i++)
        if (is_target(&ctx->options->device, r->targets[i])) return true;
    return !r->fixed || fail_targets(ctx, node, "-fsycl-fixed-targets", r->targets, r->n_targets);
}

/* Last, since what an image requires says better why there is none for the device. */
static bool check_image(struct plan_context *ctx, const struct fuser_node *node)
{
    const struct ir_function *k = node->kernel;
    for (uint32_t i = 0; i < k->n_compiled; i++)
        if (strcmp(k->compiled[i], any_device) == 0 || is_target(&ctx->options->device, k->compiled[i])) return true;
    return !k->has_compiled || fail_targets(ctx, node, "-fsycl-targets", k->compiled, k->n_compiled);
}

/* Aspects that modules have names for, and the device has numbers. */
static bool has_number(const struct fuser_device *device, const struct ir_module *m, unsigned bit)
{
    uint32_t number = ir_module_aspect_number(m, bit);
    for (uint32_t i = 0; i < device->n_aspect_numbers; i++)
        if (device->aspect_numbers[i] == number) return true;
    return false;
}

static uint64_t missing_aspects(const struct fuser_device *device, const struct ir_module *m, uint64_t aspects)
{
    uint64_t missing = aspects & ~device->aspects;
    for (unsigned bit = IR_ASPECT_COUNT; bit < IR_ASPECT_BITS; bit++)
        if (missing >> bit & 1 && has_number(device, m, bit)) missing &= ~((uint64_t)1 << bit);
    return missing;
}

/* The first one that is missing, by its number. */
static bool check_aspects(struct plan_context *ctx, const struct fuser_node *node, const struct ir_requirements *r)
{
    const struct ir_module *m = node->kernel->module;
    uint64_t missing = missing_aspects(&ctx->options->device, m, r->aspects);
    unsigned first = IR_ASPECT_BITS;
    for (unsigned bit = 0; bit < IR_ASPECT_BITS; bit++)
        if (missing >> bit & 1 &&
            (first == IR_ASPECT_BITS || ir_module_aspect_number(m, bit) < ir_module_aspect_number(m, first)))
            first = bit;
    if (!missing) return true;
    return plan_fail(ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", node->name,
                     "Kernel uses optional feature corresponding to 'aspect::%s' but device does not support this "
                     "aspect.",
                     ir_module_aspect_name(m, first));
}

/* The kernel's own size is an attribute, which seed 000 has an error for; those of what it calls, and all of an image
   that was compiled ahead of time, are requirements. */
static bool check_sub_groups(struct plan_context *ctx, const struct fuser_node *node, const struct ir_requirements *r)
{
    if (!node->kernel->has_compiled && !sub_group_size_known(ctx, node)) return false;
    uint32_t missing = r->sub_group_sizes;
    const struct fuser_device *device = &ctx->options->device;
    for (uint32_t i = 0; i < device->n_sub_group_sizes; i++)
        missing &= ~(1u << __builtin_ctz(device->sub_group_sizes[i]));
    if (!missing) return true;
    return plan_fail(ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", node->name,
                     "Kernel has a required sub-group size of '%u' but device does not support this sub-group size.",
                     1u << __builtin_ctz(missing));
}

static bool check_work_group(struct plan_context *ctx, const struct fuser_node *node, const struct ir_requirements *r)
{
    const uint32_t *size = r->work_group_size;
    if ((uint64_t)size[0] * size[1] * size[2] <= ctx->options->device.max_work_group_size) return true;
    return plan_fail(
        ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", node->name,
        "Kernel has a required work-group size of '%u, %u, %u' but device does not support this work-group "
        "size.",
        size[0], size[1], size[2]);
}

bool validate_features(struct plan_context *ctx, const struct fuser_node *node)
{
    struct ir_requirements r;
    char *why = NULL;
    struct ir_usage *u = ir_usage_new(node->kernel->module);
    bool good = ir_requirements_find(u, node->kernel, &r, &why);
    if (!good) plan_fail(ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", node->name, "kernel %s", why);
    good = good && check_targets(ctx, node, &r) && check_aspects(ctx, node, &r) && check_sub_groups(ctx, node, &r) &&
           check_work_group(ctx, node, &r) && check_image(ctx, node);
    free(why);
    ir_requirements_clear(&r);
    ir_usage_free(u);
    return good;
}
