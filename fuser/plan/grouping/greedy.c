/*
 * Good groups of many kernels. Groups are filled one after another: each takes, by rank, every kernel that is ready and
 * can join, until none is left or too many could not. Commands run between groups, as early as they can: which of them
 * have to is seen later. Where only dependences keep kernels apart, no other groups are fewer.
 */
#include "fuser/plan/grouping/greedy.h"

#include "fuser/plan/grouping/legality.h"
#include "fuser/plan/order/heap.h"
#include "ir/base/arena.h"

enum { MAX_REJECTED = 64 }; /* kernels that could not join before a group is closed */

struct greedy {
    const struct grouping *g;
    const struct plan_order *order; /* for ranks */
    uint32_t *left;                 /* of each node: predecessors that have not run */
    struct heap ready;
    uint32_t n_rejected, rejected[MAX_REJECTED]; /* ranks */
    uint32_t n_commands, *commands;              /* that are ready */
    struct plan_choice *out;
};

static void make_ready(struct greedy *s, uint32_t node)
{
    if (grouping_is_kernel(s->g, node)) {
        heap_push(&s->ready, s->order->rank[node]);
    } else {
        s->commands[s->n_commands++] = node;
    }
}

static void release(struct greedy *s, uint32_t node)
{
    const struct plan_edges *e = s->g->edges;
    for (uint32_t k = e->successors_start[node]; k < e->successors_start[node + 1]; k++)
        if (--s->left[e->successors[k]] == 0) make_ready(s, e->successors[k]);
}

static void run_commands(struct greedy *s)
{
    while (s->n_commands) release(s, s->commands[--s->n_commands]);
}

static void append(struct greedy *s, uint32_t node)
{
    s->out->kernels[s->out->n++] = node;
    release(s, node);
}

static void fill_group(struct greedy *s, struct group_builder *b)
{
    uint32_t node = s->order->by_rank[heap_pop(&s->ready)];
    struct joining with;
    struct refusal why;
    s->out->starts[s->out->n] = true;
    s->out->n_groups++;
    append(s, node);
    group_builder_open(s->g, b, &s->out->kernels[s->out->n - 1]);
    while (s->ready.n && s->n_rejected < MAX_REJECTED) {
        uint32_t rank = heap_pop(&s->ready);
        node = s->order->by_rank[rank];
        s->out->kernels[s->out->n] = node; /* behind the group */
        if (!legality_joins(s->g, b, &with, &why)) {
            s->rejected[s->n_rejected++] = rank;
            continue;
        }
        group_builder_add(s->g, b, &with);
        append(s, node);
    }
    while (s->n_rejected) heap_push(&s->ready, s->rejected[--s->n_rejected]);
}

void greedy_groups(const struct grouping *g, const struct plan_order *order, struct plan_choice *out)
{
    uint32_t n = g->facts->graph->n_nodes;
    struct greedy s = {.g = g,
                       .order = order,
                       .left = arena_alloc(g->ctx->arena, (n + 1) * sizeof *s.left),
                       .ready.ranks = arena_alloc(g->ctx->arena, (n + 1) * sizeof *s.ready.ranks),
                       .commands = arena_alloc(g->ctx->arena, (n + 1) * sizeof *s.commands),
                       .out = out};
    struct group_builder b;
    group_builder_init(g, &b);
    out->n = 0;
    for (uint32_t i = 0; i < n; i++) s.left[i] = g->edges->n_predecessors[i];
    for (uint32_t i = 0; i < n; i++)
        if (!g->edges->n_predecessors[i]) make_ready(&s, i);
    run_commands(&s);
    while (s.ready.n) {
        fill_group(&s, &b);
        run_commands(&s);
    }
}
