/* What the plan says of nodes, put back to those that were given. */
#include "fuser/plan/recompute/recomputed.h"

#include <string.h>

#include "ir/base/arena.h"

/* Those of the run's that were not seen before. */
static struct node_run given_nodes(const struct recomputed *r, struct arena *arena, struct node_run run, bool *seen)
{
    uint32_t n = 0, *given = NULL;
    for (uint32_t i = 0; i < run.n; i++)
        for (uint32_t k = 0; k < r->parts[run.nodes[i]].n; k++) {
            uint32_t node = r->parts[run.nodes[i]].nodes[k];
            if (seen[node]) continue;
            seen[node] = true;
            given = arena_grow(arena, given, n, sizeof *given);
            given[n++] = node;
        }
    return (struct node_run){given, n};
}

static bool *none_seen(const struct recomputed *r, struct arena *arena)
{
    return arena_alloc(arena, r->given->graph->n_nodes + 1);
}

struct node_run recompute_given_nodes(const struct recomputed *r, struct arena *arena, struct node_run run)
{
    return r->parts ? given_nodes(r, arena, run, none_seen(r, arena)) : run;
}

static void number_nodes(const struct recomputed *r, struct arena *arena, uint32_t **nodes, uint32_t *n, bool *seen)
{
    struct node_run given = given_nodes(r, arena, (struct node_run){*nodes, *n}, seen);
    *nodes = arena_alloc(arena, (given.n + 1) * sizeof **nodes);
    if (given.n) memcpy(*nodes, given.nodes, given.n * sizeof **nodes);
    *n = given.n;
}

void recompute_number_as_given(const struct recomputed *r, struct fuser_plan *plan)
{
    if (!r->parts) return;
    number_nodes(r, plan->arena, &plan->order, &plan->n_order, none_seen(r, plan->arena));
    bool *seen = none_seen(r, plan->arena); /* a node whose work several launches do is one of the first */
    for (uint32_t i = 0; i < plan->n_launches; i++)
        number_nodes(r, plan->arena, &plan->launches[i].nodes, &plan->launches[i].n_nodes, seen);
    for (uint32_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].kind == FUSER_STEP_NODE) plan->steps[i].index = r->parts[plan->steps[i].index].nodes[0];
    for (uint32_t i = 0; i < r->n_buffers; i++) {
        plan->storage[r->buffers[i].buffer] = FUSER_STORAGE_PRIVATE;
        plan->saved[r->buffers[i].buffer] = r->buffers[i].traffic;
    }
}
