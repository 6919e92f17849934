/*
 * The last work-group. A sum over all elements is two kernels: one of many work-groups, each with a sum of its own, and
 * one of a single work-group that adds these. The second waits for all of the first, so no barrier can stand between
 * them, but it needs no launch: a work-group more, behind all others, does it.
 */
#include "fuser/plan/grouping/last_group.h"

#include "fuser/graph/range.h"
#include "fuser/plan/graph/image_args.h"
#include "fuser/plan/mapping/launch_range.h"

static bool is_wanted(const struct fuser_options *o)
{
    return o->mode == FUSER_MODE_ENABLE && o->device.last_groups && !o->insert_barriers && !o->debug;
}

/* Lines of whole work-groups, to which one more can be put. */
static bool can_be_longer(const struct grouping *g, const struct plan_group *group)
{
    const struct nd_range *all = &group->range;
    uint32_t n = group->last_from ? group->last_from : group->run.n;
    if (all->dims != 1 || all->offset[0] || !range_has_local(all) || range_is_uneven(all)) return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct nd_range *own = &g->facts->nodes[group->run.nodes[i]].range;
        if (!range_is_box(own, all) || range_has_other_local(own, all)) return false;
    }
    return all->global[0] / all->local[0] > 1;
}

/* One work-group as the launch has them, or work-items of which none looks at its work-group. */
static bool fits(const struct grouping *g, uint32_t node, const struct nd_range *all)
{
    const struct nd_range *own = &g->facts->nodes[node].range;
    if (own->dims != 1 || own->global[0] > all->local[0]) return false;
    if (range_has_local(own) && own->local[0] == all->local[0]) return own->global[0] == own->local[0];
    return launch_range_sees_no_groups(g->facts, node);
}

static bool has_images(const struct grouping *g, uint32_t node)
{
    const struct plan_node *n = &g->facts->nodes[node];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++)
        if (image_args_have(g->facts->graph, g->facts->uses[i].buffer)) return true;
    return false;
}

bool last_group_takes(const struct grouping *g, const struct group_builder *b)
{
    uint32_t node = group_builder_next(b);
    const struct access_analysis *a = g->facts->nodes[node].access;
    return is_wanted(g->ctx->options) && !b->shared_state && !a->shared_state && can_be_longer(g, &b->group) &&
           fits(g, node, &b->group.range) && !has_images(g, node);
}

void last_group_remark(const struct grouping *g, const struct group_builder *b)
{
    const char *name = grouping_node_name(g, group_builder_next(b));
    plan_remark(g->ctx, "last_group", name, NULL,
                "%s runs in the last work-group of the launch of %s, which begins when all others have ended", name,
                grouping_node_name(g, b->group.run.nodes[0]));
}
