/* Barriers by itself. Where kernels meet, each work-group is computed by itself, region by region, and what flows
   between the kernels stays in the nearest cache. */
#include "fuser/plan/grouping/barriers.h"

bool barriers_may_be_put(const struct fuser_options *o)
{
    if (o->barriers == FUSER_BARRIERS_AUTOMATIC) return o->mode == FUSER_MODE_ENABLE;
    return o->barriers == FUSER_BARRIERS_NEEDED;
}

uint64_t barriers_row(const struct nd_range *range)
{
    uint64_t row = 0;
    for (unsigned d = 0; d < 3; d++)
        if (range->local[d] > row) row = range->local[d];
    return row;
}

/* Kernels that meet in their work-groups anyway are computed group by group anyway. */
static bool meet_anyway(const struct grouping *g, const struct group_builder *b)
{
    bool before = false;
    for (uint32_t i = 0; i < b->group.run.n; i++) before |= g->facts->nodes[b->group.run.nodes[i]].access->meets_groups;
    return before && g->facts->nodes[group_builder_next(b)].access->meets_groups;
}

bool barriers_pay(const struct grouping *g, const struct group_builder *b, const struct nd_range *range)
{
    if (g->ctx->options->barriers == FUSER_BARRIERS_NEEDED || cost_barrier_pays(barriers_row(range))) return true;
    return meet_anyway(g, b);
}
