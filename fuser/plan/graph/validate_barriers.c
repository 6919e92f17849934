/* Do all work-items of a node's work-groups come to each barrier and group operation? What is proved not to is refused,
 * with its line; what is not proved either way is left to a run by the interpreter. */
#include "fuser/plan/graph/validate_barriers.h"

#include "ir/analysis/barrier_divergence.h"

/* The local size that is known before the fuser chooses one. */
static bool known_local(const struct fuser_node *node, uint64_t local[3])
{
    for (unsigned d = 0; d < 3; d++) {
        local[d] = node->range.local[d] ? node->range.local[d] : node->kernel->work_group_size[d];
        if (!local[d]) return false;
    }
    return true;
}

/* The group number id of the last one there is, in each dimension. */
static void set_group(struct ir_barrier_group *g, const struct nd_range *r, bool last)
{
    for (unsigned d = 0; d < 3; d++) {
        g->id[d] = last ? (r->global[d] - 1) / g->local[d] : 0;
        uint64_t left = r->global[d] - g->id[d] * g->local[d];
        g->size[d] = left < g->local[d] ? left : g->local[d];
        g->global[d] = r->global[d];
        g->offset[d] = r->offset[d];
    }
}

bool validate_barriers(struct plan_context *ctx, const struct fuser_node *node)
{
    struct ir_barrier_group group = {.placed = true, .dims = node->range.dims};
    struct ir_barrier_divergence finding;
    bool any = node->range.global[0] && node->range.global[1] && node->range.global[2];
    if (!any || !known_local(node, group.local)) return true;
    for (int last = 0; last < 2; last++) {
        set_group(&group, &node->range, last);
        if (!ir_find_barrier_divergence(node->kernel, &group, &finding)) continue;
        return plan_fail(ctx, FUSER_INVALID, "node", node->name, "kernel %s, line %u: %s %s", node->kernel->name,
                         finding.at->loc.line, ir_op_info(finding.at->op)->text, finding.text);
    }
    return true;
}
