/* A graph in which some nodes do the work of others, and what they are in the graph that was given. */
#pragma once

#include "fuser/plan/base/node_run.h"
#include "fuser/plan/base/result.h"
#include "fuser/plan/graph/facts.h"

struct recomputed_buffer {
    uint32_t buffer;
    uint64_t traffic; /* that its accesses would have */
};

struct recomputed {
    const struct fuser_graph *graph; /* what is planned: as given where nothing is computed again */
    const struct plan_facts *given;  /* of the graph as it was given */
    struct node_run *parts;          /* by node of `graph`: the given nodes whose work it does, itself the last */
    uint32_t n_buffers;
    struct recomputed_buffer *buffers; /* that nobody uses any more */
    uint32_t n_modules;
    struct ir_module **modules; /* owned */
};

/* The node does the work of others, too. */
static inline bool recompute_is_several(const struct recomputed *r, uint32_t node)
{
    return r->parts && r->parts[node].n > 1;
}
/* The given nodes that those of the run stand for, each once, in an order in which they can run. */
struct node_run recompute_given_nodes(const struct recomputed *r, struct arena *arena, struct node_run run);
/* Nodes of the plan as they were given, and the buffers that were left out, when all else is there. */
void recompute_number_as_given(const struct recomputed *r, struct fuser_plan *plan);
