/*
 * Kernels of different ND-ranges in one launch: which work-item of the launch is which of theirs. A kernel whose range
 * lies within that of the launch runs at the same global ids; any other gets its ids from the linear id. As soon as one
 * does, all accesses of the group are looked at in linear ids.
 */
#include <stdio.h>
#include <string.h>

#include "fuser/plan/planner.h"
#include "fuser/plan/range.h"
#include "ir/arena.h"

/* The range whose linear ids the launch has in common with the node. */
static const struct fuser_range *base_of(const struct plan_node *node)
{
    return range_is_box(&node->range, &node->launch) ? &node->launch : &node->range;
}

static void place_summaries(struct planner *p, struct plan_node *node)
{
    uint32_t n = node->access->n_params;
    struct access_summary *placed = arena_alloc(p->arena, (n + 1) * sizeof *placed);
    for (uint32_t i = 0; i < n; i++) {
        const struct access_summary *own = &node->access->params[i];
        placed[i] = *own;
        placed[i].sites = arena_alloc(p->arena, (own->n_sites + 1) * sizeof *own->sites);
        if (own->n_sites) memcpy(placed[i].sites, own->sites, own->n_sites * sizeof *own->sites);
        for (uint32_t k = 0; k < own->n_sites; k++) access_linearize(&placed[i].sites[k], &node->range, base_of(node));
    }
    node->placed = placed;
}

static void place_node(struct planner *p, struct plan_node *node, const struct fuser_range *launch, bool linear)
{
    bool same = linear == node->linear && range_same(launch, &node->launch);
    node->launch = node->ids = *launch;
    if (same) return;
    node->linear = linear;
    node->placed = NULL;
    if (!linear) return;
    node->ids = (struct fuser_range){.dims = 1, .global = {range_items(launch), 1, 1}};
    place_summaries(p, node);
}

bool plan_place_run(struct planner *p, uint32_t first, uint32_t n, const struct fuser_range *launch)
{
    bool linear = false;
    for (uint32_t i = 0; i < n; i++) linear |= !range_is_box(&p->nodes[p->plan->order[first + i]].range, launch);
    for (uint32_t i = 0; i < n; i++) place_node(p, &p->nodes[p->plan->order[first + i]], launch, linear);
    return linear;
}

void plan_own_ids(const struct planner *p, uint32_t node, int64_t id[3])
{
    const struct plan_node *n = &p->nodes[node];
    const struct fuser_range *base = base_of(n);
    uint64_t rest = (uint64_t)id[0];
    for (unsigned d = 0; d < 3 && n->linear; d++) {
        id[d] = (int64_t)(base->offset[d] + (d < 2 ? rest % base->global[d] : rest));
        rest /= base->global[d];
    }
}

/* The line of an access that is at a sum of ids, but not at a multiple of the linear id; false: there is none. */
static bool find_taken_apart(const struct plan_node *node, uint32_t *line)
{
    for (uint32_t i = 0; i < node->access->n_params; i++)
        for (uint32_t k = 0; k < node->access->params[i].n_sites; k++) {
            *line = node->access->params[i].sites[k].line;
            if (node->access->params[i].sites[k].index.known && !node->placed[i].sites[k].index.known) return true;
        }
    return false;
}

bool plan_is_cheap(const struct planner *p, uint32_t first, uint32_t n, char *why, size_t why_size)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t line, at = p->plan->order[first + i];
        const struct plan_node *node = &p->nodes[at];
        char place[300];
        if (!node->linear || range_is_box(&node->range, &node->launch) || !find_taken_apart(node, &line)) continue;
        snprintf(
            why, why_size,
            "%s would get its ids from the linear id, by divisions for each work-item; require_fusion fuses anyway",
            plan_place(p, at, line, place, sizeof place));
        return false;
    }
    return true;
}

/* Two ranges have the same linear ids at the same global ids. */
static bool same_lines(const struct fuser_range *a, const struct fuser_range *b)
{
    for (uint32_t d = 0; d + 1 < a->dims || d + 1 < b->dims; d++)
        if (a->global[d] != b->global[d]) return false;
    return a->dims == b->dims && memcmp(a->offset, b->offset, sizeof a->offset) == 0;
}

bool plan_keeps_ids(const struct planner *p, uint32_t first, uint32_t n, const struct fuser_range *from,
                    const struct fuser_range *to)
{
    bool linear = false, alike = true, kept = true;
    for (uint32_t i = 0; i < n; i++) {
        const struct fuser_range *r = &p->nodes[p->plan->order[first + i]].range;
        bool box = range_is_box(r, from);
        linear |= !box;
        alike &= range_same(r, &p->nodes[p->plan->order[first]].range);
        kept &= box == range_is_box(r, to) && range_items(r) <= range_items(to);
    }
    return alike || (kept && (!linear || same_lines(from, to)));
}

/* ---- work-groups ---- */

static bool is_group_blind(const struct access_analysis *a)
{
    return !a->has_barrier && !a->has_group_ops && !a->has_local_ids;
}

bool plan_sees_own_groups(const struct planner *p, uint32_t node, const struct fuser_range *launch, char *why,
                          size_t why_size)
{
    const struct plan_node *n = &p->nodes[node];
    const struct access_analysis *a = n->access;
    const char *what = NULL;
    if (range_is_box(&n->range, launch)) {
        if (range_same(launch, &n->range) || is_group_blind(a) || range_has_whole_groups(&n->range, launch))
            return true;
        snprintf(why, why_size, "%s has fewer work-items, and looks at its work-group", p->graph->nodes[node].name);
        return false;
    }
    if (p->graph->nodes[node].kernel->work_group_size[0]) what = "requires a work-group size";
    if (plan_local_bytes(p, node)) what = "uses work-group memory";
    if (a->has_sub_groups) what = "looks at its sub-group";
    if (a->has_group_ops) what = "has group operations";
    if (a->has_barrier) what = "has a barrier";
    if (!what) return true;
    snprintf(why, why_size, "%s would get its ids from the linear id, but %s", p->graph->nodes[node].name, what);
    return false;
}

struct fuser_range plan_run_range(const struct planner *p, uint32_t first, uint32_t n)
{
    struct fuser_range all = p->nodes[p->plan->order[first]].range;
    bool alike = true;
    char why[256];
    for (uint32_t i = 1; i < n; i++) {
        const struct fuser_range *more = &p->nodes[p->plan->order[first + i]].range;
        bool same = range_same(&all, more);
        range_join(&all, more, alike, why, sizeof why);
        alike &= same;
    }
    return all;
}
