/*
 * Kernels of different ND-ranges in one launch: which work-item of the launch is which of theirs. A kernel whose range
 * lies within that of the launch runs at the same global ids; any other gets its ids from the linear id. As soon as one
 * does, all accesses of the group are looked at in linear ids.
 */
#include "fuser/plan/mapping/id_mapping.h"

#include <stdio.h>
#include <string.h>

#include "fuser/access/linear_ids.h"
#include "fuser/graph/range.h"
#include "fuser/plan/base/context.h"
#include "fuser/plan/mapping/launch_range.h"
#include "ir/base/arena.h"

/* The range whose linear ids the launch has in common with the node. */
static const struct nd_range *base_of(const struct plan_node *node, const struct mapped_node *mapped)
{
    return range_is_box(&node->range, &mapped->launch) ? &mapped->launch : &node->range;
}

static void map_sites(struct id_mapping *m, const struct plan_node *node, struct mapped_node *mapped)
{
    uint32_t n = node->access->n_params;
    struct access_summary *params = arena_alloc(m->arena, (n + 1) * sizeof *params);
    for (uint32_t i = 0; i < n; i++) {
        const struct access_summary *own = &node->access->params[i];
        params[i] = *own;
        params[i].sites = arena_alloc(m->arena, (own->n_sites + 1) * sizeof *own->sites);
        if (own->n_sites) memcpy(params[i].sites, own->sites, own->n_sites * sizeof *own->sites);
        for (uint32_t k = 0; k < own->n_sites; k++)
            linear_ids_of_site(&params[i].sites[k], &node->range, base_of(node, mapped));
    }
    mapped->params = params;
}

static void map_node(struct id_mapping *m, uint32_t node, const struct nd_range *launch, bool linear)
{
    struct mapped_node *mapped = &m->nodes[node];
    bool same = linear == mapped->linear && range_same(launch, &mapped->launch);
    mapped->launch = mapped->ids = *launch;
    if (linear) mapped->ids = (struct nd_range){.dims = 1, .global = {range_items(launch), 1, 1}};
    if (same) return;
    mapped->linear = linear;
    mapped->params = NULL;
    if (linear) map_sites(m, &m->facts->nodes[node], mapped);
}

/* Its work-groups are not those of the launch, and what it computes depends on them. */
static bool has_groups_elsewhere(const struct plan_facts *f, uint32_t node, const struct nd_range *launch)
{
    const struct nd_range *own = &f->nodes[node].range;
    return !range_is_box(own, launch) || (range_has_other_local(own, launch) && !launch_range_sees_no_groups(f, node));
}

void id_mapping_init(struct id_mapping *m, const struct plan_facts *facts, struct arena *arena)
{
    *m = (struct id_mapping){
        .facts = facts, .arena = arena, .nodes = arena_alloc(arena, (facts->graph->n_nodes + 1) * sizeof *m->nodes)};
}

bool id_mapping_set(struct id_mapping *m, struct node_run run, const struct nd_range *launch)
{
    bool linear = false;
    for (uint32_t i = 0; i < run.n; i++) linear |= has_groups_elsewhere(m->facts, run.nodes[i], launch);
    for (uint32_t i = 0; i < run.n; i++) map_node(m, run.nodes[i], launch, linear);
    return linear;
}

const struct access_summary *id_mapping_summary(const struct id_mapping *m, const struct plan_use *use)
{
    const struct mapped_node *mapped = &m->nodes[use->node];
    return &(mapped->params ? mapped->params : m->facts->nodes[use->node].access->params)[use->arg];
}

/* What local and group ids count from is the same for the node alone and in its group. */
static bool has_own_ids(const struct plan_node *node, const struct mapped_node *mapped)
{
    return !mapped->linear && memcmp(node->range.offset, mapped->ids.offset, sizeof mapped->ids.offset) == 0;
}

struct launched_access id_mapping_access(const struct id_mapping *m, const struct plan_use *use,
                                         const struct access_site *site)
{
    const struct plan_node *node = &m->facts->nodes[use->node];
    const struct mapped_node *mapped = &m->nodes[use->node];
    return (struct launched_access){.site = site,
                                    .range = has_own_ids(node, mapped) ? &node->range : &mapped->ids,
                                    .own = &node->range,
                                    .linear = mapped->linear,
                                    .offset = (int64_t)use->first,
                                    .args = m->facts->graph->nodes[use->node].args,
                                    .values = m->facts->graph->values};
}

void id_mapping_own_ids(const struct id_mapping *m, uint32_t node, int64_t id[3])
{
    const struct mapped_node *mapped = &m->nodes[node];
    const struct nd_range *base = base_of(&m->facts->nodes[node], mapped);
    uint64_t rest = (uint64_t)id[0];
    for (unsigned d = 0; d < 3 && mapped->linear; d++) {
        id[d] = (int64_t)(base->offset[d] + (d < 2 ? rest % base->global[d] : rest));
        rest /= base->global[d];
    }
}

/* The line of an access that is at a sum of ids, but not at a multiple of the linear id; false: there is none. */
static bool find_taken_apart(const struct plan_node *node, const struct mapped_node *mapped, uint32_t *line)
{
    for (uint32_t i = 0; i < node->access->n_params; i++)
        for (uint32_t k = 0; k < node->access->params[i].n_sites; k++) {
            *line = node->access->params[i].sites[k].line;
            if (node->access->params[i].sites[k].index.known && !mapped->params[i].sites[k].index.known) return true;
        }
    return false;
}

bool id_mapping_is_cheap(const struct id_mapping *m, struct node_run run, char *why, size_t why_size)
{
    for (uint32_t i = 0; i < run.n; i++) {
        uint32_t line, at = run.nodes[i];
        const struct plan_node *node = &m->facts->nodes[at];
        const struct mapped_node *mapped = &m->nodes[at];
        char text[300];
        if (!mapped->linear || range_is_box(&node->range, &mapped->launch) || !find_taken_apart(node, mapped, &line))
            continue;
        snprintf(
            why, why_size,
            "%s would get its ids from the linear id, by divisions for each work-item; require_fusion fuses anyway",
            plan_line_text(&m->facts->graph->nodes[at], line, text, sizeof text));
        return false;
    }
    return true;
}
