/*
 * Groups: runs of the linear order that become one launch each. A kernel joins the group before it unless
 * something speaks against it. Where that leaves several groups, it is looked for a better order.
 */
#include "fuser/plan/forming.h"
#include "ir/base/arena.h"

static const char *name_of(const struct planner *p, uint32_t node)
{
    return p->graph->nodes[node].name;
}

static void close_group(struct planner *p, struct forming *f)
{
    if (!f->group.n) return;
    p->groups = arena_grow(p->arena, p->groups, p->n_groups, sizeof *p->groups);
    p->groups[p->n_groups++] = f->group;
    f->group.n = 0;
}

/* Under require_fusion a cut is the end. */
static bool accept_cut(struct planner *p, uint32_t node, const struct cut *c)
{
    if (p->options->mode == FUSER_MODE_REQUIRE)
        return plan_fail(p, FUSER_KERNEL_NOT_SUPPORTED, "node", name_of(p, node), "%s", c->text);
    plan_remark(p, c->code, name_of(p, node), c->buffer, "%s", c->text);
    return true;
}

/* A copy, fill or host task ends the group; a kernel after it needs it. */
static bool pass_command(struct planner *p, uint32_t node, bool kernel_before, bool *reported)
{
    if (!kernel_before || *reported) return true;
    *reported = true;
    struct cut c = {0};
    cut(&c, "not_fused_command",
        "%s can go neither before nor after all kernels: the kernels before it and after it are not fused",
        name_of(p, node));
    return accept_cut(p, node, &c);
}

/* The kernel joins the group before it, unless it has to start one, or is to. */
static bool joins(struct planner *p, const struct forming *f, uint32_t node, struct nd_range *joined, struct cut *c)
{
    uint32_t remarks = p->plan->n_remarks;
    if (!forming_joins(p, f, node, joined, c)) return false;
    if (!p->starts || !p->starts[node]) return true;
    p->plan->n_remarks = remarks;
    plan_place_run(p, f->group.first, f->group.n, &f->group.range);
    return cut(c, "not_fused_traffic",
               "%s could be fused with %s, but these groups move %llu bytes of memory, and no others that are as few "
               "move less",
               name_of(p, node), name_of(p, p->plan->order[f->group.first]), (unsigned long long)p->chosen_bytes);
}

static bool form_groups(struct planner *p, bool fusing)
{
    struct forming f;
    forming_init(p, &f);
    bool kernel_before = false, reported = false; /* reported: of the commands since the last kernel */
    uint32_t last = p->plan->n_order;             /* the last kernel's place */
    while (last > 0 && p->graph->nodes[p->plan->order[last - 1]].kind != FUSER_NODE_KERNEL) last--;
    for (uint32_t at = 0; at < p->plan->n_order; at++) {
        uint32_t node = p->plan->order[at];
        if (p->graph->nodes[node].kind != FUSER_NODE_KERNEL) {
            close_group(p, &f);
            if (fusing && at < last && !pass_command(p, node, kernel_before, &reported)) return false;
            continue;
        }
        kernel_before = true;
        reported = false;
        struct cut c = {0};
        struct nd_range joined = p->nodes[node].range;
        if (f.group.n && fusing && !joins(p, &f, node, &joined, &c) && !accept_cut(p, node, &c)) return false;
        if (f.group.n && (!fusing || c.code)) close_group(p, &f);
        if (!f.group.n) {
            forming_open(p, &f, at);
        } else {
            forming_add(p, &f, node, &joined);
        }
    }
    close_group(p, &f);
    return true;
}

bool plan_groups(struct planner *p)
{
    const struct fuser_options *o = p->options;
    for (uint32_t i = 0; i < p->graph->n_nodes; i++) p->nodes[i].group = NO_GROUP;
    if (o->mode == FUSER_MODE_NONE && o->insert_barriers)
        plan_remark(p, "property_without_effect", NULL, NULL,
                    "insert_barriers has no effect without enable_fusion or require_fusion");
    if (o->mode == FUSER_MODE_ENABLE && !o->device.can_fuse)
        plan_remark(p, "not_fused_device", NULL, NULL,
                    "nothing is fused: device %s lacks the aspect ext_oneapi_graph_fusion", o->device.name);
    bool fusing = o->mode != FUSER_MODE_NONE && o->device.can_fuse;
    uint32_t remarks = p->plan->n_remarks;
    if (!form_groups(p, fusing)) return false;
    if (!fusing || o->mode == FUSER_MODE_REQUIRE || p->n_groups < 2) return true;
    plan_choose(p);
    p->plan->n_remarks = remarks;
    p->n_groups = 0;
    return form_groups(p, fusing);
}
