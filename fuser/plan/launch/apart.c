/* Which buffers are written again by each group that reads them. Asked of all groups before the first launch is made,
   as each may only leave out what no other one reads. */
#include "fuser/plan/launch/apart.h"

#include <string.h>

#include "fuser/plan/graph/image_args.h"
#include "ir/base/arena.h"

enum { MOST_CONDITIONS = 256 }; /* each such launch of a submission compares them */

/* Kernels of several groups read or write it, and nobody needs anything else of it. */
static bool is_candidate(const struct launching *l, const uint32_t *group_of, uint32_t buffer)
{
    const struct plan_facts *f = l->facts;
    const uint32_t *start = &f->buffer_uses_start[buffer];
    bool several = false;
    if (f->graph->buffers[buffer].image || program_scope_has(l->scope, buffer)) return false;
    for (uint32_t k = start[0]; k < start[1]; k++) {
        const struct plan_use *use = &f->uses[f->buffer_uses[k]];
        if (group_of[use->node] == UINT32_MAX || !use->props.internal_memory) return false;
        if (image_arg_is_use(f->graph, use) || !(use->reads || use->writes)) return false;
        several |= group_of[use->node] != group_of[f->uses[f->buffer_uses[start[0]]].node];
    }
    return several;
}

/* A group whose kernels are copies and fills alone runs them as they are, in memory. */
static bool has_kernels(const struct launching *l, struct node_run run)
{
    for (uint32_t i = 0; i < run.n; i++)
        if (!l->facts->graph->nodes[run.nodes[i]].command) return true;
    return false;
}

/* Such buffers that kernels of the run use, each once. Returns how many. */
static uint32_t buffers_of(const struct launching *l, struct node_run run, const struct apart_buffers *apart,
                           uint32_t **out)
{
    const struct plan_facts *f = l->facts;
    uint32_t n = 0;
    *out = NULL;
    for (uint32_t i = 0; i < run.n; i++) {
        const struct plan_node *node = &f->nodes[run.nodes[i]];
        for (uint32_t k = node->first_use; k < node->first_use + node->n_uses; k++) {
            bool have = !apart->buffers[f->uses[k].buffer];
            for (uint32_t h = 0; h < n && !have; h++) have = (*out)[h] == f->uses[k].buffer;
            if (have) continue;
            *out = arena_grow(l->ctx->arena, *out, n, sizeof **out);
            (*out)[n++] = f->uses[k].buffer;
        }
    }
    return n;
}

/* Drops the buffers that the group does not write again by itself; keep: those that are left are kept. */
static void ask_group(struct launching *l, const struct plan_group *group, struct apart_buffers *apart, bool keep)
{
    uint32_t *buffers, n = buffers_of(l, group->run, apart, &buffers);
    if (!n) return;
    struct nd_range *range = arena_alloc(l->ctx->arena, sizeof *range);
    *range = attempt_range(l, group->run, group);
    const struct storage_query query = attempt_query(l, group->run, group, range);
    bool kernels = has_kernels(l, group->run);
    for (uint32_t i = 0; i < n; i++)
        if (!kernels || !storage_is_made_again(&query, buffers[i], keep)) apart->buffers[buffers[i]] = false;
}

static bool is_same(const struct fuser_condition *a, const struct fuser_condition *b)
{
    return a->is_pipe == b->is_pipe && a->value == b->value && a->like == b->like && a->number == b->number &&
           a->at_least == b->at_least;
}

static void add_conditions(struct plan_context *ctx, const struct fuser_condition *from, uint32_t n_from,
                           struct fuser_condition **to, uint32_t *n_to)
{
    for (uint32_t i = 0; i < n_from; i++) {
        bool have = false;
        for (uint32_t k = 0; k < *n_to && !have; k++) have = is_same(&from[i], &(*to)[k]);
        if (have) continue;
        *to = arena_grow(ctx->arena, *to, *n_to, sizeof **to);
        (*to)[(*n_to)++] = from[i];
    }
}

void apart_find(struct launching *l, const struct plan_groups *groups, struct apart_buffers *out)
{
    const struct fuser_graph *graph = l->facts->graph;
    uint32_t *group_of = arena_alloc(l->ctx->arena, (graph->n_nodes + 1) * sizeof *group_of);
    *out = (struct apart_buffers){.buffers = arena_alloc(l->ctx->arena, graph->n_buffers + 1), .n = graph->n_buffers};
    l->apart = out;
    if (l->ctx->options->mode == FUSER_MODE_NONE || !l->ctx->options->device.can_fuse || l->ctx->options->debug) return;
    for (uint32_t i = 0; i < graph->n_nodes; i++) group_of[i] = UINT32_MAX;
    for (uint32_t g = 0; g < groups->n; g++)
        for (uint32_t i = 0; i < groups->groups[g].run.n; i++) group_of[groups->groups[g].run.nodes[i]] = g;
    for (uint32_t b = 0; b < out->n; b++) out->buffers[b] = is_candidate(l, group_of, b);
    for (uint32_t g = 0; g < groups->n; g++) ask_group(l, &groups->groups[g], out, false);
    for (uint32_t g = 0; g < groups->n; g++) ask_group(l, &groups->groups[g], out, true);
    for (uint32_t g = 0; g < groups->n; g++) {
        struct plan_params params;
        uint32_t *buffers;
        if (!buffers_of(l, groups->groups[g].run, out, &buffers)) continue;
        params_find(l->ctx, l->facts, groups->groups[g].run, &params);
        add_conditions(l->ctx, params.conditions, params.n_conditions, &out->conditions, &out->n_conditions);
    }
    if (out->n_conditions > MOST_CONDITIONS) memset(out->buffers, 0, out->n);
}

bool apart_drop_kept(struct apart_buffers *apart, const struct fuser_plan *plan)
{
    bool some = false;
    for (uint32_t i = 0; i < plan->n_launches; i++)
        for (uint32_t k = 0; k < plan->launches[i].n_params; k++) {
            const struct fuser_param *param = &plan->launches[i].params[k];
            if (param->kind != FUSER_PARAM_BUFFER || !apart->buffers[param->index]) continue;
            apart->buffers[param->index] = false;
            some = true;
        }
    return some;
}

void apart_add_conditions(struct launching *l, struct attempt *r)
{
    bool some = false;
    for (uint32_t i = 0; i < r->params.n; i++)
        some |= r->params.params[i].kind == FUSER_PARAM_BUFFER && l->apart->buffers[r->params.params[i].index];
    if (some)
        add_conditions(l->ctx, l->apart->conditions, l->apart->n_conditions, &r->params.conditions,
                       &r->params.n_conditions);
}
