/*
 * Kernels of different ND-ranges in one launch: which work-item of the launch is which of theirs. A kernel whose range
 * lies within that of the launch runs at the same global ids; any other gets its ids from the linear id. As soon as one
 * does, all accesses of the group are looked at in linear ids.
 */
#include <stdio.h>
#include <string.h>

#include "fuser/access/linear_ids.h"
#include "fuser/graph/local_size.h"
#include "fuser/graph/range.h"
#include "fuser/plan/planner.h"
#include "ir/base/arena.h"

/* The range whose linear ids the launch has in common with the node. */
static const struct nd_range *base_of(const struct plan_node *node)
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
        for (uint32_t k = 0; k < own->n_sites; k++) linear_ids_of_site(&placed[i].sites[k], &node->range, base_of(node));
    }
    node->placed = placed;
}

static void place_node(struct planner *p, struct plan_node *node, const struct nd_range *launch, bool linear)
{
    bool same = linear == node->linear && range_same(launch, &node->launch);
    node->launch = node->ids = *launch;
    if (linear) node->ids = (struct nd_range){.dims = 1, .global = {range_items(launch), 1, 1}};
    if (same) return;
    node->linear = linear;
    node->placed = NULL;
    if (linear) place_summaries(p, node);
}

static bool sees_nothing_of_groups(const struct planner *p, uint32_t node)
{
    const struct access_analysis *a = p->nodes[node].access;
    return !a->meets_groups && !a->sees_groups && !a->has_sub_groups && !plan_local_bytes(p, node) &&
           !p->graph->nodes[node].kernel->work_group_size[0] &&
           !p->graph->nodes[node].kernel->sub_groups_per_work_group;
}

/* Its work-groups are not those of the launch, and what it computes depends on them. */
static bool has_groups_elsewhere(const struct planner *p, uint32_t node, const struct nd_range *launch)
{
    const struct nd_range *own = &p->nodes[node].range;
    return !range_is_box(own, launch) || (range_has_other_local(own, launch) && !sees_nothing_of_groups(p, node));
}

bool plan_place_run(struct planner *p, uint32_t first, uint32_t n, const struct nd_range *launch)
{
    bool linear = false;
    for (uint32_t i = 0; i < n; i++) linear |= has_groups_elsewhere(p, p->plan->order[first + i], launch);
    for (uint32_t i = 0; i < n; i++) place_node(p, &p->nodes[p->plan->order[first + i]], launch, linear);
    return linear;
}

void plan_own_ids(const struct planner *p, uint32_t node, int64_t id[3])
{
    const struct plan_node *n = &p->nodes[node];
    const struct nd_range *base = base_of(n);
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
static bool same_lines(const struct nd_range *a, const struct nd_range *b)
{
    for (uint32_t d = 0; d + 1 < a->dims || d + 1 < b->dims; d++)
        if (a->global[d] != b->global[d]) return false;
    return a->dims == b->dims && memcmp(a->offset, b->offset, sizeof a->offset) == 0;
}

bool plan_keeps_ids(const struct planner *p, uint32_t first, uint32_t n, const struct nd_range *from,
                    const struct nd_range *to)
{
    bool linear = false, alike = true, kept = true;
    for (uint32_t i = 0; i < n; i++) {
        const struct nd_range *r = &p->nodes[p->plan->order[first + i]].range;
        bool box = range_is_box(r, from);
        linear |= !box;
        alike &= range_same(r, &p->nodes[p->plan->order[first]].range);
        kept &= box == range_is_box(r, to) && range_items(r) <= range_items(to);
    }
    return alike || (kept && (!linear || same_lines(from, to)));
}

/* ---- work-groups ---- */

struct nd_range plan_part_range(const struct planner *p, uint32_t node, const struct nd_range *launch)
{
    struct nd_range own = p->nodes[node].range;
    if (!range_is_box(&own, launch))
        local_size_choose(&own, &p->options->device, p->graph->nodes[node].kernel);
    else if (range_has_other_local(&own, launch) && sees_nothing_of_groups(p, node))
        memset(own.local, 0, sizeof own.local);
    return own;
}

bool plan_takes_any_groups(const struct planner *p, uint32_t node)
{
    return p->nodes[node].access->sees_groups && !range_has_local(&p->nodes[node].range);
}

/* What a kernel has that only whole work-groups of its own can give; NULL: nothing. */
static const char *needs_groups(const struct planner *p, uint32_t node)
{
    const struct access_analysis *a = p->nodes[node].access;
    if (a->has_barrier && a->meets_groups) return "has a barrier";
    if (a->meets_groups) return "has group operations";
    if (plan_local_bytes(p, node)) return "uses work-group memory";
    const struct ir_function *kernel = p->graph->nodes[node].kernel;
    if (kernel->sub_groups_per_work_group) return "requires a number of sub-groups";
    return kernel->work_group_size[0] ? "requires a work-group size" : NULL;
}

static bool sub_groups_stay(const struct planner *p, uint32_t first, uint32_t node, const struct nd_range *launch,
                            uint32_t size, char *why, size_t why_size)
{
    struct nd_range own = plan_part_range(p, node, launch), whole = *launch;
    char part[160], all[160];
    if (!p->nodes[node].access->has_sub_groups) return true;
    local_size_choose(&whole, &p->options->device, p->graph->nodes[p->plan->order[first]].kernel);
    if (!range_has_local(&own)) memcpy(own.local, whole.local, sizeof own.local);
    if (size && range_has_whole_sub_groups(&own, &whole, size)) return true;
    snprintf(why, why_size, "%s looks at its sub-groups of %u, and over %s they are others than over %s",
             p->graph->nodes[node].name, size, range_text(&own, part, sizeof part),
             range_text(&whole, all, sizeof all));
    return false;
}

bool plan_sees_own_groups(const struct planner *p, uint32_t first, uint32_t node, const struct nd_range *launch,
                          uint32_t sub_group_size, char *why, size_t why_size)
{
    const struct plan_node *n = &p->nodes[node];
    bool box = range_is_box(&n->range, launch), other_local = range_has_other_local(&n->range, launch);
    const char *name = p->graph->nodes[node].name, *needs = needs_groups(p, node);
    char own[160], all[160];
    if (box && !other_local) {
        if (range_same(launch, &n->range) || range_has_whole_groups(&n->range, launch)) return true;
        if (!n->access->meets_groups && !n->access->sees_groups)
            return sub_groups_stay(p, first, node, launch, sub_group_size, why, why_size);
        snprintf(why, why_size, "%s has fewer work-items, and looks at its work-group", name);
        return false;
    }
    if (!needs) return sub_groups_stay(p, first, node, launch, sub_group_size, why, why_size);
    if (box)
        snprintf(why, why_size, "%s %s, and has %s, the launch %s", name, needs, range_text(&n->range, own, sizeof own),
                 range_text(launch, all, sizeof all));
    else
        snprintf(why, why_size, "%s would get its ids from the linear id, but %s", name, needs);
    return false;
}

/* ---- the range of all ---- */

/* How much a kernel needs the local size that was given to it. */
static unsigned claim_of(const struct planner *p, uint32_t node)
{
    if (needs_groups(p, node)) return 3;
    return sees_nothing_of_groups(p, node) ? 1 : 2;
}

/* The same of those that share the launch's. */
static unsigned claim_of_all(const struct planner *p, uint32_t first, uint32_t n, const struct nd_range *launch)
{
    unsigned most = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = p->plan->order[first + i];
        const struct nd_range *own = &p->nodes[node].range;
        if (!range_has_local(own) || range_has_other_local(own, launch)) continue;
        unsigned claim = claim_of(p, node);
        if (claim > most) most = claim;
    }
    return most;
}

enum range_fit plan_join_range(const struct planner *p, uint32_t first, uint32_t n, uint32_t node, bool alike,
                               struct nd_range *sum, char *why, size_t why_size)
{
    const struct nd_range *more = &p->nodes[node].range;
    struct nd_range all = *sum;
    enum range_fit fit = range_join(&all, more, alike, why, why_size);
    if (range_has_other_local(more, sum) && fit <= RANGE_LARGER && claim_of(p, node) > claim_of_all(p, first, n, sum)) {
        struct nd_range turned = *sum;
        memcpy(turned.local, more->local, sizeof turned.local);
        all = turned;
        fit = range_join(&all, more, alike, why, why_size);
    }
    if (fit < RANGE_APART) *sum = all;
    return fit;
}

struct nd_range plan_run_range(const struct planner *p, uint32_t first, uint32_t n)
{
    struct nd_range all = p->nodes[p->plan->order[first]].range;
    bool alike = true;
    char why[256];
    for (uint32_t i = 1; i < n; i++) {
        const struct nd_range *more = &p->nodes[p->plan->order[first + i]].range;
        bool same = range_same(&all, more);
        plan_join_range(p, first, i, p->plan->order[first + i], alike, &all, why, sizeof why);
        alike &= same;
    }
    return all;
}
