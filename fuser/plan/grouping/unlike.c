/*
 * A kernel with less than half of the launch's work-items stands behind a guard there. Where something flows between it
 * and the others, that is kept out of memory. Where nothing does, all that is saved is waking threads once; but the
 * launch gets longer code, and its rows touch memory at two paces, so that it hardly runs in bands with others. What
 * it is weighed by is the launch that it could be part of otherwise: eight small kernels, each of them less than a
 * launch, are together more than one.
 */
#include "fuser/plan/grouping/unlike.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/graph/range.h"
#include "ir/base/arena.h"

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

/* ---- work ---- */

static void add(struct cost_work *sum, const struct cost_work *more)
{
    sum->operations += more->operations;
    sum->bytes += more->bytes;
}

static struct cost_work work_of(const struct grouping *g, uint32_t node)
{
    const struct plan_node *n = &g->facts->nodes[node];
    struct cost_work w = {n->operations * range_items(&n->range), 0};
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++)
        w.bytes += g->facts->uses[i].end - g->facts->uses[i].first;
    return w;
}

/* ---- kernels that are alike ---- */

static int compare_kernels(const void *x, const void *y, void *data)
{
    const struct grouping *g = data;
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    const struct nd_range *first = &g->facts->nodes[a].range, *second = &g->facts->nodes[b].range;
    if (g->depth[a] != g->depth[b]) return g->depth[a] < g->depth[b] ? -1 : 1;
    return memcmp(first->global, second->global, sizeof first->global);
}

void unlike_prepare(struct grouping *g, const struct plan_order *order)
{
    uint32_t n = 0, n_nodes = g->facts->graph->n_nodes;
    uint32_t *kernels = arena_alloc(g->ctx->arena, (n_nodes + 1) * sizeof *kernels);
    struct cost_work *alike = arena_alloc(g->ctx->arena, (n_nodes + 1) * sizeof *alike);
    g->depth = order->depth;
    for (uint32_t i = 0; i < n_nodes; i++)
        if (grouping_is_kernel(g, i)) kernels[n++] = i;
    qsort_r(kernels, n, sizeof *kernels, compare_kernels, g);
    for (uint32_t first = 0, end; first < n; first = end) {
        struct cost_work sum = {0};
        for (end = first; end < n && compare_kernels(&kernels[first], &kernels[end], g) == 0; end++) {
            struct cost_work own = work_of(g, kernels[end]);
            add(&sum, &own);
        }
        for (uint32_t i = first; i < end; i++) alike[kernels[i]] = sum;
    }
    g->alike = alike;
}

/* ---- what pays ---- */

/* What the launch does that the kernel behind the group could be part of otherwise. */
static struct cost_work work_of_next(const struct grouping *g, const struct group_builder *b)
{
    uint32_t node = group_builder_next(b);
    struct cost_work sum = g->alike[node];
    for (uint32_t i = 0; i < b->group.run.n; i++) {
        uint32_t member = b->group.run.nodes[i];
        if (g->depth[member] == g->depth[node] || /* counted, if it is alike */
            !range_same(&g->facts->nodes[member].range, &g->facts->nodes[node].range))
            continue;
        struct cost_work own = work_of(g, member);
        add(&sum, &own);
    }
    return sum;
}

/* What the group does, or its first kernel with those alike. */
static struct cost_work work_of_group(const struct grouping *g, const struct group_builder *b)
{
    struct cost_work sum = {0}, first = g->alike[b->group.run.nodes[0]];
    for (uint32_t i = 0; i < b->group.run.n; i++) {
        struct cost_work own = work_of(g, b->group.run.nodes[i]);
        add(&sum, &own);
    }
    if (first.operations > sum.operations) sum.operations = first.operations;
    if (first.bytes > sum.bytes) sum.bytes = first.bytes;
    return sum;
}

bool unlike_ranges_pay(const struct grouping *g, const struct group_builder *b, const struct nd_range *joined)
{
    const struct fuser_options *o = g->ctx->options;
    uint32_t node = group_builder_next(b);
    uint64_t own = range_items(&g->facts->nodes[node].range), others = range_items(&b->group.range);
    uint64_t all = range_items(joined);
    if (o->mode != FUSER_MODE_ENABLE || !o->device.machine.cache_bytes) return true;
    if (2 * own >= all && 2 * others >= all) return true;
    if (flows(g, b, &g->facts->nodes[node])) return true;
    struct cost_work next = work_of_next(g, b), group = work_of_group(g, b);
    return own < others ? !cost_launch_pays(&o->device.machine, &next, &group)
                        : !cost_launch_pays(&o->device.machine, &group, &next);
}
