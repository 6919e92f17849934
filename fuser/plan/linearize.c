/* The linear order of all nodes around groups that were chosen: copies, fills and host tasks that are ready go first,
   later ones only before a group that needs some. */
#include "fuser/plan/heap.h"
#include "fuser/plan/planner.h"
#include "ir/base/arena.h"

struct linear {
    struct planner *p;
    uint32_t n;     /* ordered */
    uint32_t *left; /* of each node: predecessors that are not */
    struct heap commands;
    uint32_t *group; /* of each kernel */
};

static void append(struct linear *l, uint32_t node)
{
    struct planner *p = l->p;
    p->nodes[node].position = l->n;
    p->plan->order[l->n++] = node;
    for (uint32_t k = p->successors_start[node]; k < p->successors_start[node + 1]; k++) {
        uint32_t to = p->successors[k];
        if (--l->left[to] == 0 && p->graph->nodes[to].kind != FUSER_NODE_KERNEL) heap_push(&l->commands, p->rank[to]);
    }
}

static void append_commands(struct linear *l)
{
    while (l->commands.n) append(l, l->p->by_rank[heap_pop(&l->commands)]);
}

/* Some kernel of the group waits for more than kernels of the group. */
static bool needs_commands(const struct linear *l, const uint32_t *kernels, uint32_t n)
{
    const struct planner *p = l->p;
    uint64_t waiting = 0, inside = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = kernels[i];
        waiting += l->left[node];
        for (uint32_t k = p->successors_start[node]; k < p->successors_start[node + 1]; k++)
            inside += l->group[p->successors[k]] == l->group[node];
    }
    return waiting != inside;
}

static void init(struct linear *l, struct planner *p, const struct plan_choice *c)
{
    uint32_t n = p->graph->n_nodes, group = 0;
    *l = (struct linear){.p = p,
                         .left = arena_alloc(p->arena, (n + 1) * sizeof *l->left),
                         .commands.ranks = arena_alloc(p->arena, (n + 1) * sizeof *l->commands.ranks),
                         .group = arena_alloc(p->arena, (n + 1) * sizeof *l->group)};
    for (uint32_t i = 0; i < c->n; i++) l->group[c->kernels[i]] = group += c->starts[i]; /* from 1 on */
    for (uint32_t i = 0; i < n; i++) {
        l->left[i] = p->n_predecessors[i];
        if (!l->left[i] && p->graph->nodes[i].kind != FUSER_NODE_KERNEL) heap_push(&l->commands, p->rank[i]);
    }
}

void plan_linearize(struct planner *p, const struct plan_choice *choice)
{
    struct linear l;
    init(&l, p, choice);
    append_commands(&l);
    for (uint32_t first = 0, end; first < choice->n; first = end) {
        for (end = first + 1; end < choice->n && !choice->starts[end];) end++;
        if (needs_commands(&l, &choice->kernels[first], end - first)) append_commands(&l);
        for (uint32_t i = first; i < end; i++) append(&l, choice->kernels[i]);
    }
    append_commands(&l);
}
