/*
 * A kernel with less than half of the launch's work-items stands behind a guard there. Where something flows between it
 * and the others, that is kept out of memory. Where nothing does, all that is saved is waking threads once; but the
 * launch gets longer code, and its rows touch memory at two paces, so that it hardly runs in bands with others.
 */
#include "fuser/plan/grouping/unlike.h"

#include "fuser/graph/range.h"

/* One of the two writes what both touch. */
static bool flows(const struct grouping *g, const struct group_builder *b, const struct plan_node *n)
{
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) {
        const struct plan_use *use = &g->facts->uses[i];
        if (b->stamp[use->buffer] != b->generation) continue;
        for (const struct member_use *m = b->by_buffer[use->buffer]; m; m = m->next) {
            const struct plan_use *other = &g->facts->uses[m->use];
            if ((use->writes || other->writes) && use->first < other->end && other->first < use->end) return true;
        }
    }
    return false;
}

static void add_work(const struct grouping *g, uint32_t node, uint64_t *operations, uint64_t *bytes)
{
    const struct plan_node *n = &g->facts->nodes[node];
    *operations += n->operations * range_items(&n->range);
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++)
        *bytes += g->facts->uses[i].end - g->facts->uses[i].first;
}

bool unlike_ranges_pay(const struct grouping *g, const struct group_builder *b, const struct nd_range *joined)
{
    const struct fuser_options *o = g->ctx->options;
    uint32_t node = group_builder_next(b);
    uint64_t own = range_items(&g->facts->nodes[node].range), others = range_items(&b->group.range);
    uint64_t all = range_items(joined), operations = 0, bytes = 0;
    if (o->mode != FUSER_MODE_ENABLE || !o->device.machine.cache_bytes) return true;
    if (2 * own >= all && 2 * others >= all) return true;
    if (flows(g, b, &g->facts->nodes[node])) return true;
    if (own < others)
        add_work(g, node, &operations, &bytes);
    else
        for (uint32_t i = 0; i < b->group.run.n; i++) add_work(g, b->group.run.nodes[i], &operations, &bytes);
    return !cost_launch_pays(&o->device.machine, operations, bytes);
}
