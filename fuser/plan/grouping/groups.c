/*
 * Groups: runs of the linear order that become one launch each. A kernel joins the group before it unless
 * something speaks against it. Where that leaves several groups, it is looked for a better order.
 */
#include "fuser/plan/grouping/groups.h"

#include "fuser/plan/grouping/legality.h"
#include "fuser/plan/grouping/unlike.h"
#include "ir/base/arena.h"

/* Groups while they are formed along the order. */
struct forming {
    struct grouping *g;
    const struct plan_order *order;
    const struct required_starts *required;
    struct plan_groups *out;
    struct group_builder builder;
};

static void close_group(struct forming *f)
{
    struct plan_groups *out = f->out;
    if (!f->builder.group.run.n) return;
    out->groups = arena_grow(f->g->ctx->arena, out->groups, out->n, sizeof *out->groups);
    out->groups[out->n++] = f->builder.group;
    f->builder.group.run.n = 0;
}

/* Under require_fusion a refusal is the end. */
static bool accept_refusal(struct plan_context *ctx, const char *name, const struct refusal *r)
{
    if (ctx->options->mode == FUSER_MODE_REQUIRE)
        return plan_fail(ctx, FUSER_KERNEL_NOT_SUPPORTED, "node", name, "%s", r->text);
    plan_remark(ctx, r->code, name, r->buffer, "%s", r->text);
    return true;
}

/* A copy, fill or host task ends the group; a kernel after it needs it. */
static bool end_at_command(const struct grouping *g, uint32_t node, bool kernel_before, bool *reported)
{
    if (!kernel_before || *reported) return true;
    *reported = true;
    struct refusal r = {0};
    refuse(&r, "not_fused_command",
           "%s can go neither before nor after all kernels: the kernels before it and after it are not fused",
           grouping_node_name(g, node));
    return accept_refusal(g->ctx, grouping_node_name(g, node), &r);
}

/* The kernel joins the group before it, unless it has to start one, or is to. */
static bool joins(const struct forming *f, struct joining *with, struct refusal *r)
{
    const struct grouping *g = f->g;
    const struct plan_group *group = &f->builder.group;
    uint32_t node = group_builder_next(&f->builder), remarks = g->ctx->n_remarks;
    if (!legality_joins(g, &f->builder, with, r)) return false;
    if (!f->required->starts || !f->required->starts[node]) return true;
    g->ctx->n_remarks = remarks;
    id_mapping_set(g->mapping, group->run, &group->range);
    return refuse(
        r, "not_fused_traffic",
        "%s could be fused with %s, but these groups move %llu bytes of memory, and none were found that are as few "
        "and move less",
        grouping_node_name(g, node), grouping_node_name(g, group->run.nodes[0]),
        (unsigned long long)f->required->bytes);
}

/* The place of the last kernel; where there is none, of nothing. */
static uint32_t last_kernel(const struct grouping *g, const struct plan_order *order)
{
    uint32_t last = order->n;
    while (last > 0 && !grouping_is_kernel(g, order->nodes[last - 1])) last--;
    return last;
}

static bool form_groups(struct forming *f, bool fusing)
{
    struct grouping *g = f->g;
    struct group_builder *b = &f->builder;
    group_builder_init(g, b);
    f->out->n = 0;
    bool kernel_before = false, reported = false; /* reported: of the commands since the last kernel */
    uint32_t last = last_kernel(g, f->order);
    for (uint32_t at = 0; at < f->order->n; at++) {
        uint32_t node = f->order->nodes[at];
        if (!grouping_is_kernel(g, node)) {
            close_group(f);
            if (fusing && at < last && !end_at_command(g, node, kernel_before, &reported)) return false;
            continue;
        }
        kernel_before = true;
        reported = false;
        struct refusal r = {0};
        struct joining with = {.range = g->facts->nodes[node].range};
        if (b->group.run.n && fusing && !joins(f, &with, &r) &&
            !accept_refusal(g->ctx, grouping_node_name(g, node), &r))
            return false;
        if (b->group.run.n && (!fusing || r.code)) close_group(f);
        if (!b->group.run.n) {
            group_builder_open(g, b, &f->order->nodes[at]);
        } else {
            group_builder_add(g, b, &with);
        }
    }
    close_group(f);
    return true;
}

bool groups_find(struct grouping *g, struct plan_order *order, struct plan_groups *out)
{
    struct plan_context *ctx = g->ctx;
    const struct fuser_options *o = ctx->options;
    struct required_starts required = {0};
    struct forming f = {.g = g, .order = order, .required = &required, .out = out};
    if (o->mode == FUSER_MODE_NONE && o->insert_barriers)
        plan_remark(ctx, "property_without_effect", NULL, NULL,
                    "insert_barriers has no effect without enable_fusion or require_fusion");
    if (o->mode == FUSER_MODE_ENABLE && !o->device.can_fuse)
        plan_remark(ctx, "not_fused_device", NULL, NULL,
                    "nothing is fused: device %s lacks the aspect ext_oneapi_graph_fusion", o->device.name);
    bool fusing = o->mode != FUSER_MODE_NONE && o->device.can_fuse;
    uint32_t remarks = ctx->n_remarks;
    unlike_prepare(g, order);
    *out = (struct plan_groups){0};
    if (!form_groups(&f, fusing)) return false;
    if (!fusing || o->mode == FUSER_MODE_REQUIRE || out->n < 2) return true;
    choose_groups(g, out, order, &required);
    ctx->n_remarks = remarks;
    return form_groups(&f, fusing);
}
