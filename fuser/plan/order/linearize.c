/* The linear order of all nodes around groups that were chosen: copies, fills and host tasks that are ready go first,
   later ones only before a group that needs some. */
#include "fuser/plan/order/linearize.h"

#include "fuser/plan/order/heap.h"
#include "ir/base/arena.h"

struct linear {
    const struct plan_facts *facts;
    const struct plan_edges *edges;
    struct plan_order *order;
    uint32_t n;     /* ordered */
    uint32_t *left; /* of each node: predecessors that are not */
    struct heap commands;
    uint32_t *group; /* of each kernel */
};

static void append(struct linear *l, uint32_t node)
{
    const struct plan_edges *e = l->edges;
    l->order->position[node] = l->n;
    l->order->nodes[l->n++] = node;
    for (uint32_t k = e->successors_start[node]; k < e->successors_start[node + 1]; k++) {
        uint32_t to = e->successors[k];
        if (--l->left[to] == 0 && l->facts->graph->nodes[to].kind != FUSER_NODE_KERNEL)
            heap_push(&l->commands, l->order->rank[to]);
    }
}

static void append_commands(struct linear *l)
{
    while (l->commands.n) append(l, l->order->by_rank[heap_pop(&l->commands)]);
}

/* Some kernel of the group waits for more than kernels of the group. */
static bool needs_commands(const struct linear *l, const uint32_t *kernels, uint32_t n)
{
    const struct plan_edges *e = l->edges;
    uint64_t waiting = 0, inside = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = kernels[i];
        waiting += l->left[node];
        for (uint32_t k = e->successors_start[node]; k < e->successors_start[node + 1]; k++)
            inside += l->group[e->successors[k]] == l->group[node];
    }
    return waiting != inside;
}

static void init(struct linear *l, struct arena *arena, const struct plan_choice *c)
{
    uint32_t n = l->facts->graph->n_nodes, group = 0;
    l->left = arena_alloc(arena, (n + 1) * sizeof *l->left);
    l->commands.ranks = arena_alloc(arena, (n + 1) * sizeof *l->commands.ranks);
    l->group = arena_alloc(arena, (n + 1) * sizeof *l->group);
    for (uint32_t i = 0; i < c->n; i++) l->group[c->kernels[i]] = group += c->starts[i]; /* from 1 on */
    for (uint32_t i = 0; i < n; i++) {
        l->left[i] = l->edges->n_predecessors[i];
        if (!l->left[i] && l->facts->graph->nodes[i].kind != FUSER_NODE_KERNEL)
            heap_push(&l->commands, l->order->rank[i]);
    }
}

void linearize(struct plan_context *ctx, const struct plan_facts *facts, const struct plan_edges *edges,
               const struct plan_choice *choice, struct plan_order *order)
{
    struct linear l = {.facts = facts, .edges = edges, .order = order};
    init(&l, ctx->arena, choice);
    append_commands(&l);
    for (uint32_t first = 0, end; first < choice->n; first = end) {
        for (end = first + 1; end < choice->n && !choice->starts[end];) end++;
        if (needs_commands(&l, &choice->kernels[first], end - first)) append_commands(&l);
        for (uint32_t i = first; i < end; i++) append(&l, choice->kernels[i]);
    }
    append_commands(&l);
}
