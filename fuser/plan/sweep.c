/*
 * Good groups of many kernels. Groups are filled one after another: each takes, by rank, every kernel that is ready and
 * can join, until none is left or too many could not. Commands run between groups, as early as they can: which of them
 * have to is seen later. Where only dependences keep kernels apart, no other groups are fewer.
 */
#include "fuser/plan/forming.h"
#include "fuser/plan/heap.h"
#include "ir/base/arena.h"

enum { MAX_REJECTED = 64 }; /* kernels that could not join before a group is closed */

struct sweep {
    struct planner *p;
    uint32_t *left; /* of each node: predecessors that have not run */
    struct heap ready;
    uint32_t n_rejected, rejected[MAX_REJECTED]; /* ranks */
    uint32_t n_commands, *commands;              /* that are ready */
    struct plan_choice *out;
};

static void make_ready(struct sweep *s, uint32_t node)
{
    if (s->p->graph->nodes[node].kind == FUSER_NODE_KERNEL) {
        heap_push(&s->ready, s->p->rank[node]);
    } else {
        s->commands[s->n_commands++] = node;
    }
}

static void release(struct sweep *s, uint32_t node)
{
    const struct planner *p = s->p;
    for (uint32_t k = p->successors_start[node]; k < p->successors_start[node + 1]; k++)
        if (--s->left[p->successors[k]] == 0) make_ready(s, p->successors[k]);
}

static void run_commands(struct sweep *s)
{
    while (s->n_commands) release(s, s->commands[--s->n_commands]);
}

/* The order so far is that of the kernels so far. */
static void append(struct sweep *s, uint32_t node)
{
    s->out->kernels[s->out->n++] = node;
    release(s, node);
}

static void fill_group(struct sweep *s, struct forming *f)
{
    uint32_t node = s->p->by_rank[heap_pop(&s->ready)];
    struct nd_range joined;
    struct cut why;
    s->p->plan->order[s->out->n] = node;
    s->out->starts[s->out->n] = true;
    s->out->n_groups++;
    forming_open(s->p, f, s->out->n);
    append(s, node);
    while (s->ready.n && s->n_rejected < MAX_REJECTED) {
        uint32_t rank = heap_pop(&s->ready);
        node = s->p->by_rank[rank];
        s->p->plan->order[s->out->n] = node;
        if (!forming_joins(s->p, f, node, &joined, &why)) {
            s->rejected[s->n_rejected++] = rank;
            continue;
        }
        forming_add(s->p, f, node, &joined);
        append(s, node);
    }
    while (s->n_rejected) heap_push(&s->ready, s->rejected[--s->n_rejected]);
}

void plan_sweep(struct planner *p, struct plan_choice *out)
{
    uint32_t n = p->graph->n_nodes;
    struct sweep s = {.p = p,
                      .left = arena_alloc(p->arena, (n + 1) * sizeof *s.left),
                      .ready.ranks = arena_alloc(p->arena, (n + 1) * sizeof *s.ready.ranks),
                      .commands = arena_alloc(p->arena, (n + 1) * sizeof *s.commands),
                      .out = out};
    struct forming f;
    forming_init(p, &f);
    out->n = 0;
    for (uint32_t i = 0; i < n; i++) s.left[i] = p->n_predecessors[i];
    for (uint32_t i = 0; i < n; i++)
        if (!p->n_predecessors[i]) make_ready(&s, i);
    run_commands(&s);
    while (s.ready.n) {
        fill_group(&s, &f);
        run_commands(&s);
    }
}
