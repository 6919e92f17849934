/*
 * Nodes that are left out: those in which nothing happens, as kernels over no work-items, copies and fills of no bytes,
 * and others that are not needed. They are checked like all others; what depends on them depends on what they depend
 * on.
 */
#include "fuser/plan/graph/left_out.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

static bool is_empty(const struct fuser_node *n)
{
    if (n->kind == FUSER_NODE_KERNEL) return !n->range.global[0] || !n->range.global[1] || !n->range.global[2];
    return n->kind != FUSER_NODE_HOST && n->bytes == 0;
}

/* Taking them out. */
struct leaving {
    const struct fuser_graph *graph; /* as it was given */
    uint32_t *place;                 /* of each node in the new graph; NO_NODE: it is left out */
    uint32_t *seen;                  /* of each such node: for which node it was looked at last, + 1 */
    uint32_t *stack;                 /* of such nodes */
    uint32_t n_deps, *deps;          /* of the node in work */
};

enum { NO_NODE = UINT32_MAX };

/* Nodes left out that wait for each other would be lost as a cycle. */
static bool check_cycle(struct plan_context *ctx, const struct fuser_graph *g, const struct leaving *l)
{
    uint32_t n = g->n_nodes, left = 0, found = 0;
    uint32_t *waits = arena_alloc(ctx->arena, (n + 1) * sizeof *waits), *ready = l->stack;
    /* From the end of chains: how many of these depend on each. */
    for (uint32_t i = 0; i < n; i++) {
        if (l->place[i] != NO_NODE) continue;
        left++;
        for (uint32_t k = 0; k < g->nodes[i].n_deps; k++) waits[g->nodes[i].deps[k]]++;
    }
    for (uint32_t i = 0; i < n; i++)
        if (l->place[i] == NO_NODE && !waits[i]) ready[found++] = i;
    for (uint32_t done = 0; done < found; done++) {
        const struct fuser_node *node = &g->nodes[ready[done]];
        for (uint32_t k = 0; k < node->n_deps; k++)
            if (--waits[node->deps[k]] == 0 && l->place[node->deps[k]] == NO_NODE) ready[found++] = node->deps[k];
    }
    if (found == left) return true;
    uint32_t at = 0;
    while (l->place[at] != NO_NODE || !waits[at]) at++;
    return plan_fail(ctx, FUSER_INVALID, "graph", NULL,
                     "a cycle of nodes that nothing has to be done for, one of them %s", g->nodes[at].name);
}

/* The dependences of a node, those on nodes left out replaced by theirs. */
static void find_deps(struct plan_context *ctx, struct leaving *l, uint32_t node)
{
    uint32_t depth = 0;
    l->n_deps = 0;
    l->deps = NULL;
    l->stack[depth++] = node;
    while (depth) {
        const struct fuser_node *n = &l->graph->nodes[l->stack[--depth]];
        for (uint32_t k = 0; k < n->n_deps; k++) {
            uint32_t on = n->deps[k];
            if (l->place[on] != NO_NODE) {
                l->deps = arena_grow(ctx->arena, l->deps, l->n_deps, sizeof *l->deps);
                l->deps[l->n_deps++] = l->place[on];
            } else if (l->seen[on] != node + 1) {
                l->seen[on] = node + 1;
                l->stack[depth++] = on;
            }
        }
    }
}

static int by_name(const void *x, const void *y, void *nodes)
{
    const struct fuser_node *n = nodes;
    return strcmp(n[*(const uint32_t *)x].name, n[*(const uint32_t *)y].name);
}

bool left_out_without(struct plan_context *ctx, const struct fuser_graph *g, const bool *out, struct left_out *left)
{
    uint32_t n = g->n_nodes, kept = 0;
    struct leaving l = {.graph = g,
                        .place = arena_alloc(ctx->arena, (n + 1) * sizeof *l.place),
                        .seen = arena_alloc(ctx->arena, (n + 1) * sizeof *l.seen),
                        .stack = arena_alloc(ctx->arena, (n + 1) * sizeof *l.stack)};
    for (uint32_t i = 0; i < n; i++) l.place[i] = out[i] ? NO_NODE : kept++;
    *left = (struct left_out){.graph = g};
    if (kept == n) return true;
    if (!check_cycle(ctx, g, &l)) return false;
    struct fuser_graph *graph = arena_alloc(ctx->arena, sizeof *graph);
    *graph = *g;
    graph->nodes = arena_alloc(ctx->arena, (kept + 1) * sizeof *graph->nodes);
    graph->n_nodes = 0;
    left->given = arena_alloc(ctx->arena, (n + 1) * sizeof *left->given);
    for (uint32_t i = 0; i < n; i++) {
        if (out[i]) {
            left->given[kept + left->n++] = i;
            continue;
        }
        find_deps(ctx, &l, i);
        left->given[graph->n_nodes] = i;
        graph->nodes[graph->n_nodes] = g->nodes[i];
        graph->nodes[graph->n_nodes].deps = l.deps;
        graph->nodes[graph->n_nodes++].n_deps = l.n_deps;
    }
    qsort_r(left->given + kept, left->n, sizeof *left->given, by_name, g->nodes); /* however they were recorded */
    left->graph = graph;
    return true;
}

bool left_out_empty(struct plan_context *ctx, const struct fuser_graph *g, struct left_out *left)
{
    bool *empty = arena_alloc(ctx->arena, g->n_nodes + 1);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const struct fuser_node *node = &g->nodes[i];
        empty[i] = is_empty(node);
        if (empty[i])
            plan_remark(ctx, "empty_range", node->name, NULL, "%s has no %s: nothing runs", node->name,
                        node->kind == FUSER_NODE_KERNEL ? "work-items" : "bytes");
    }
    return left_out_without(ctx, g, empty, left);
}

void left_out_number_as_given(const struct left_out *e, struct fuser_plan *plan)
{
    if (!e->n) return;
    uint32_t n = plan->n_order, *order = arena_alloc(plan->arena, (n + e->n) * sizeof *order);
    for (uint32_t i = 0; i < n; i++) order[i] = e->given[plan->order[i]];
    memcpy(order + n, e->given + n, e->n * sizeof *order);
    plan->order = order;
    plan->n_order = n + e->n;
    for (uint32_t i = 0; i < plan->n_launches; i++)
        for (uint32_t k = 0; k < plan->launches[i].n_nodes; k++)
            plan->launches[i].nodes[k] = e->given[plan->launches[i].nodes[k]];
    for (uint32_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].kind == FUSER_STEP_NODE) plan->steps[i].index = e->given[plan->steps[i].index];
}
