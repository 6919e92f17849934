/* The ND-range of a launch that holds kernels of several, and what each sees there of its work-groups. */
#include "fuser/plan/mapping/launch_range.h"

#include <stdio.h>
#include <string.h>

#include "fuser/graph/local_size.h"
#include "fuser/plan/graph/uses.h"

bool launch_range_sees_no_groups(const struct plan_facts *f, uint32_t node)
{
    const struct access_analysis *a = f->nodes[node].access;
    return !a->meets_groups && !a->sees_groups && !a->has_sub_groups && !uses_local_bytes(f, node) &&
           !f->graph->nodes[node].kernel->work_group_size[0] &&
           !f->graph->nodes[node].kernel->sub_groups_per_work_group;
}

/* Two ranges have the same linear ids at the same global ids. */
static bool same_lines(const struct nd_range *a, const struct nd_range *b)
{
    for (uint32_t d = 0; d + 1 < a->dims || d + 1 < b->dims; d++)
        if (a->global[d] != b->global[d]) return false;
    return a->dims == b->dims && memcmp(a->offset, b->offset, sizeof a->offset) == 0;
}

bool launch_range_keeps_ids(const struct plan_facts *f, struct node_run run, const struct nd_range *from,
                            const struct nd_range *to)
{
    bool linear = false, alike = true, kept = true;
    for (uint32_t i = 0; i < run.n; i++) {
        const struct nd_range *r = &f->nodes[run.nodes[i]].range;
        bool box = range_is_box(r, from);
        linear |= !box;
        alike &= range_same(r, &f->nodes[run.nodes[0]].range);
        kept &= box == range_is_box(r, to) && range_items(r) <= range_items(to);
    }
    return alike || (kept && (!linear || same_lines(from, to)));
}

/* ---- work-groups ---- */

struct nd_range launch_range_of_part(const struct plan_facts *f, uint32_t node, const struct nd_range *launch)
{
    struct nd_range own = f->nodes[node].range;
    if (!range_is_box(&own, launch))
        local_size_choose(&own, f->device, f->graph->nodes[node].kernel, 0);
    else if (range_has_other_local(&own, launch) && launch_range_sees_no_groups(f, node))
        memset(own.local, 0, sizeof own.local);
    return own;
}

bool launch_range_takes_any_groups(const struct plan_facts *f, uint32_t node)
{
    return f->nodes[node].access->sees_groups && !range_has_local(&f->nodes[node].range);
}

/* What a kernel has that only whole work-groups of its own can give; NULL: nothing. */
static const char *needs_groups(const struct plan_facts *f, uint32_t node)
{
    const struct access_analysis *a = f->nodes[node].access;
    if (a->has_barrier && a->meets_groups) return "has a barrier";
    if (a->meets_groups) return "has group operations";
    if (uses_local_bytes(f, node)) return "uses work-group memory";
    const struct ir_function *kernel = f->graph->nodes[node].kernel;
    if (kernel->sub_groups_per_work_group) return "requires a number of sub-groups";
    return kernel->work_group_size[0] ? "requires a work-group size" : NULL;
}

static bool sub_groups_stay(const struct plan_facts *f, uint32_t first, uint32_t node, const struct nd_range *launch,
                            uint32_t size, char *why, size_t why_size)
{
    struct nd_range own = launch_range_of_part(f, node, launch), whole = *launch;
    char part[160], all[160];
    if (!f->nodes[node].access->has_sub_groups) return true;
    local_size_choose(&whole, f->device, f->graph->nodes[first].kernel, 0);
    if (!range_has_local(&own)) memcpy(own.local, whole.local, sizeof own.local);
    if (size && range_has_whole_sub_groups(&own, &whole, size)) return true;
    snprintf(why, why_size, "%s depends on its sub-groups of %u, and over %s they are others than over %s",
             f->graph->nodes[node].name, size, range_text(&own, part, sizeof part),
             range_text(&whole, all, sizeof all));
    return false;
}

bool launch_range_keeps_groups(const struct plan_facts *f, uint32_t first, uint32_t node, const struct nd_range *launch,
                               uint32_t sub_group_size, char *why, size_t why_size)
{
    const struct plan_node *n = &f->nodes[node];
    bool box = range_is_box(&n->range, launch), other_local = range_has_other_local(&n->range, launch);
    const char *name = f->graph->nodes[node].name, *needs = needs_groups(f, node);
    char own[160], all[160];
    if (box && !other_local) {
        if (range_same(launch, &n->range) || range_has_whole_groups(&n->range, launch)) return true;
        if (!n->access->meets_groups && !n->access->sees_groups)
            return sub_groups_stay(f, first, node, launch, sub_group_size, why, why_size);
        snprintf(why, why_size, "%s has fewer work-items, and looks at its work-group", name);
        return false;
    }
    if (!needs) return sub_groups_stay(f, first, node, launch, sub_group_size, why, why_size);
    if (box)
        snprintf(why, why_size, "%s %s, and has %s, the launch %s", name, needs, range_text(&n->range, own, sizeof own),
                 range_text(launch, all, sizeof all));
    else
        snprintf(why, why_size, "%s would get its ids from the linear id, but %s", name, needs);
    return false;
}

/* ---- the range of all ---- */

/* How much a kernel needs the local size that was given to it. */
static unsigned claim_of(const struct plan_facts *f, uint32_t node)
{
    if (needs_groups(f, node)) return 3;
    return launch_range_sees_no_groups(f, node) ? 1 : 2;
}

/* The same of those that share the launch's. */
static unsigned claim_of_all(const struct plan_facts *f, struct node_run run, const struct nd_range *launch)
{
    unsigned most = 0;
    for (uint32_t i = 0; i < run.n; i++) {
        uint32_t node = run.nodes[i];
        const struct nd_range *own = &f->nodes[node].range;
        if (!range_has_local(own) || range_has_other_local(own, launch)) continue;
        unsigned claim = claim_of(f, node);
        if (claim > most) most = claim;
    }
    return most;
}

enum range_fit launch_range_join(const struct plan_facts *f, struct node_run run, uint32_t node, bool alike,
                                 struct nd_range *sum, char *why, size_t why_size)
{
    const struct nd_range *more = &f->nodes[node].range;
    struct nd_range all = *sum;
    enum range_fit fit = range_join(&all, more, alike, why, why_size);
    if (range_has_other_local(more, sum) && fit <= RANGE_LARGER && claim_of(f, node) > claim_of_all(f, run, sum)) {
        struct nd_range turned = *sum;
        memcpy(turned.local, more->local, sizeof turned.local);
        all = turned;
        fit = range_join(&all, more, alike, why, why_size);
    }
    if (fit < RANGE_APART) *sum = all;
    return fit;
}

struct nd_range launch_range_of_run(const struct plan_facts *f, struct node_run run)
{
    struct nd_range all = f->nodes[run.nodes[0]].range;
    bool alike = true;
    char why[256];
    for (uint32_t i = 1; i < run.n; i++) {
        const struct nd_range *more = &f->nodes[run.nodes[i]].range;
        bool same = range_same(&all, more);
        launch_range_join(f, (struct node_run){run.nodes, i}, run.nodes[i], alike, &all, why, sizeof why);
        alike &= same;
    }
    return all;
}
