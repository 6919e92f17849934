/* Does a kernel node fit its kernel and the device: arguments, range, sizes of groups, aspects. */
#include "fuser/plan/graph/validate_kernel.h"

#include <stdio.h>
#include <string.h>

#include "fuser/plan/graph/image_args.h"
#include "fuser/plan/graph/sub_group_size.h"
#include "fuser/plan/graph/validate_features.h"
#include "ir/link/link.h"
#include "ir/link/unresolved.h"

#define MAX_ITEMS ((uint64_t)1 << 47)

typedef unsigned long long ull;

static bool invalid_arg(struct plan_context *ctx, const struct fuser_node *node, uint32_t i, const char *reason)
{
    const char *name = node->kernel->params[i].value->name;
    return plan_fail(ctx, FUSER_INVALID, "node", node->name, "argument %u (%s) of kernel %s %s", i,
                     name ? name : "unnamed", node->kernel->name, reason);
}

static bool check_value(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node,
                        uint32_t i)
{
    const struct ir_param *param = &node->kernel->params[i];
    ir_type type = param->by_value ? param->elem : param->value->type;
    uint64_t size = ir_type_size(node->kernel->module, type);
    uint32_t given = g->values[node->args[i].index].size;
    char reason[96];
    if (size == given) return true;
    snprintf(reason, sizeof reason, "has %llu bytes, but the value given has %u", (ull)size, given);
    return invalid_arg(ctx, node, i, reason);
}

static bool check_elements(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node,
                           uint32_t i)
{
    const struct ir_param *param = &node->kernel->params[i];
    const struct fuser_arg *arg = &node->args[i];
    const struct fuser_buffer *buffer = &g->buffers[arg->index];
    char reason[192];
    if (param->elem != IR_VOID && buffer->elem != IR_VOID && !buffer->usm && ir_type_is_number(param->elem) &&
        ir_type_is_number(buffer->elem) && ir_type_element(param->elem) != ir_type_element(buffer->elem)) {
        snprintf(reason, sizeof reason, "points at elements of %u bits, buffer %.100s has another element type",
                 ir_type_bits(param->elem), buffer->name);
        return invalid_arg(ctx, node, i, reason);
    }
    ir_type elem = param->elem != IR_VOID ? param->elem : buffer->elem;
    if (elem == IR_VOID || (param->elem == IR_VOID && !ir_type_is_number(elem))) return true;
    /* A vector may be loaded at its element's alignment: that much is needed, no more. */
    uint32_t align = ir_type_align(node->kernel->module, ir_type_is_vector(elem) ? ir_type_element(elem) : elem);
    if (arg->offset % align == 0) return true;
    snprintf(reason, sizeof reason, "starts at byte %llu of buffer %.100s, which is no multiple of %u",
             (ull)arg->offset, buffer->name, align);
    return invalid_arg(ctx, node, i, reason);
}

static bool check_pointer(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node,
                          uint32_t i)
{
    const struct ir_param *param = &node->kernel->params[i];
    const struct fuser_arg *arg = &node->args[i];
    enum ir_space space = ir_type_space(param->value->type);
    if (space == IR_SPACE_LOCAL) {
        if (arg->kind != FUSER_ARG_LOCAL)
            return invalid_arg(ctx, node, i, "is work-group memory, but no size was given");
        return arg->bytes ? true : invalid_arg(ctx, node, i, "is work-group memory of 0 bytes");
    }
    if (arg->kind != FUSER_ARG_BUFFER) return invalid_arg(ctx, node, i, "is a pointer, but no buffer was given");
    if (g->buffers[arg->index].image || arg->view)
        return invalid_arg(ctx, node, i, "is a pointer, but an image was given");
    if (space == IR_SPACE_PRIVATE) return invalid_arg(ctx, node, i, "is a pointer to private memory");
    return check_elements(ctx, g, node, i);
}

static bool check_args(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node)
{
    const struct ir_function *k = node->kernel;
    if (node->n_args != k->n_params)
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "%u arguments, but kernel %s has %u parameters",
                         node->n_args, k->name, k->n_params);
    for (uint32_t i = 0; i < k->n_params; i++) {
        ir_type type = k->params[i].value->type;
        if (ir_type_is_ptr(type) && !k->params[i].by_value) {
            if (!check_pointer(ctx, g, node, i)) return false;
        } else if (ir_type_kind(type) == IR_KIND_IMAGE) {
            if (!image_arg_check(ctx, g, node, i)) return false;
        } else if (ir_type_kind(type) == IR_KIND_PIPE) {
            return invalid_arg(ctx, node, i, "is a pipe, which a graph cannot pass");
        } else if (node->args[i].kind != FUSER_ARG_VALUE) {
            bool sampler = ir_type_kind(type) == IR_KIND_SAMPLER;
            return invalid_arg(ctx, node, i,
                               sampler ? "is a sampler, but none was given" : "is a value, but none was given");
        } else if (!check_value(ctx, g, node, i)) {
            return false;
        }
    }
    return true;
}

static bool check_range(struct plan_context *ctx, const struct fuser_node *node)
{
    const struct nd_range *r = &node->range;
    uint64_t items = 1;
    if (r->dims < 1 || r->dims > 3)
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "an ND-range of %u dimensions; it must be 1 to 3",
                         r->dims);
    bool has_local = r->local[0] || r->local[1] || r->local[2];
    for (unsigned d = 0; d < 3; d++) {
        if (d >= r->dims && (r->global[d] != 1 || r->offset[d] || r->local[d] > 1))
            return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                             "%u dimensions, but dimension %u has size %llu, offset %llu", r->dims, d,
                             (ull)r->global[d], (ull)r->offset[d]);
        if (has_local && r->local[d] == 0)
            return plan_fail(ctx, FUSER_INVALID, "node", node->name, "the local size is 0 in dimension %u alone", d);
        if (r->global[d] > MAX_ITEMS / items || r->offset[d] > MAX_ITEMS || r->local[d] > MAX_ITEMS)
            return plan_fail(ctx, FUSER_INVALID, "node", node->name, "the ND-range exceeds %llu work-items or offsets",
                             (ull)MAX_ITEMS);
        if (r->global[d]) items *= r->global[d];
    }
    return true;
}

static bool check_local_size(struct plan_context *ctx, const struct fuser_node *node)
{
    const struct nd_range *r = &node->range;
    const uint32_t *required = node->kernel->work_group_size;
    uint64_t most = ctx->options->device.max_work_group_size, given = 1;
    for (unsigned d = 0; d < 3; d++) {
        if (r->local[d] == 0) continue;
        given = r->local[d] > UINT64_MAX / given ? UINT64_MAX : given * r->local[d];
        if (required[d] && r->local[d] != required[d])
            return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                             "local size %llu in dimension %u, but kernel %s requires %u", (ull)r->local[d], d,
                             node->kernel->name, required[d]);
    }
    if (given > most)
        return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                         "work-groups of %llu work-items; device %s allows %llu", (ull)given, ctx->options->device.name,
                         (ull)most);
    return true;
}

/* Kernels of plans assume things; one that comes back as a user's may be launched over another range. */
static bool check_assumptions(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node)
{
    const struct ir_function *k = node->kernel;
    const struct nd_range others = nd_range_of_others(&node->range);
    const struct nd_range *alike = k->assumes & IR_ASSUME_LAST_GROUP ? &others : &node->range;
    if (k->assumes & IR_ASSUME_SMALL_IDS && !nd_range_is_small(&node->range))
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "kernel %s assumes sizes and ids below 2^31", k->name);
    if (k->assumes & IR_ASSUME_WHOLE_GROUPS && !nd_range_has_whole_groups(&node->range))
        return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                         "kernel %s assumes a given local size that divides the global one", k->name);
    if (k->assumes & IR_ASSUME_PAIRED_GROUPS && !nd_range_has_groups_by(alike, 2))
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "kernel %s assumes an even number of work-groups in x",
                         k->name);
    if (k->assumes & IR_ASSUME_LANE_GROUPS && !nd_range_has_groups_by(alike, IR_LANE_GROUPS))
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "kernel %s assumes a multiple of 16 work-groups in x",
                         k->name);
    for (uint32_t i = 0; k->assumes & IR_ASSUME_SMALL_MEMORY && i < node->n_args; i++) {
        if (node->args[i].kind != FUSER_ARG_BUFFER) continue;
        const struct fuser_buffer *b = &g->buffers[node->args[i].index];
        if (b->bytes > IR_SMALL_MEMORY)
            return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                             "kernel %s assumes memory of at most 2^31 bytes, and buffer %s has %llu", k->name, b->name,
                             (unsigned long long)b->bytes);
    }
    return true;
}

static bool check_imports(struct plan_context *ctx, const struct fuser_node *node)
{
    const struct ir_function *k = node->kernel;
    const struct ir_module *m = k->module;
    const struct ir_inst *use = ir_find_import(k);
    if (!use) return true;
    bool call = use->op == IR_OP_CALL;
    const char *name = call ? use->attrs.callee->name : use->attrs.global->name;
    char place[256] = "";
    if (use->loc.line)
        snprintf(place, sizeof place, ", %s:%u",
                 use->loc.file && use->loc.file <= m->n_files ? m->files[use->loc.file - 1] : "line", use->loc.line);
    return plan_fail(
        ctx, FUSER_INVALID, "node", node->name,
        "kernel %s needs the %s %s (used in %s%s), which its module %s imports: link that with a module "
        "that exports it%s",
        k->name, call ? "function" : "variable", name, use->parent->function->name, place, m->name ? m->name : "",
        call ? ", or give it a body (C's `inline` without `static` defines nothing that can be called)" : "");
}

static bool check_refused(struct plan_context *ctx, const struct fuser_node *node)
{
    const struct ir_function *k = node->kernel, *refused = ir_find_refused(k);
    if (!refused) return true;
    if (refused == k)
        return plan_fail(ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", node->name, "kernel %s cannot be used: %s", k->name,
                         k->refused);
    return plan_fail(ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", node->name,
                     "kernel %s cannot be used: it calls function %s, which cannot be used: %s", k->name, refused->name,
                     refused->refused);
}

bool validate_kernel_node(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node)
{
    const struct ir_function *k = node->kernel;
    if (!k) return plan_fail(ctx, FUSER_INVALID, "node", node->name, "a kernel node without a kernel");
    if (k->linkage != IR_LINKAGE_KERNEL || !k->body)
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "function %s is no kernel", k->name);
    return validate_features(ctx, node) && check_refused(ctx, node) && check_imports(ctx, node) &&
           check_args(ctx, g, node) && check_range(ctx, node) && check_local_size(ctx, node) &&
           sub_group_size_check(ctx, node) && check_assumptions(ctx, g, node);
}
