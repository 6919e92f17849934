/* The graph while its readers change: what the files here work on. */
#pragma once

#include "fuser/plan/order/order.h"
#include "fuser/plan/recompute/recomputed.h"

enum { RECOMPUTE_MAX_READERS = 8, RECOMPUTE_FEWER_ITEMS = 8 };

/* A node as it is by now. */
struct recompute_state {
    struct fuser_node node;
    const struct access_analysis *access; /* of a kernel */
    struct node_run parts;                /* given nodes whose work it does, by rank */
    bool gone;
};

/* What a node was before it changed. */
struct recompute_change {
    uint32_t node;
    struct recompute_state before;
};

struct recompute_made;
struct recompute_work;

struct recomputing {
    struct plan_context *ctx;
    const struct plan_facts *facts;
    const struct plan_edges *edges;
    const struct plan_order *order;
    struct recomputed *out;
    struct recompute_state *states; /* by node */
    uint32_t n_changes;
    struct recompute_change *changes; /* to be taken back where it does not go on */
    struct recompute_made *made;      /* so far: a list */
    struct recompute_work *works;     /* that were looked at: a list */
    bool *internal;                   /* by buffer: all its users say so, and some write it */
    uint32_t n_tries;
};

/* A buffer whose readers may compute it. */
struct recompute_candidate {
    uint32_t buffer, writer, n_readers, readers[RECOMPUTE_MAX_READERS];
    struct recompute_made *made[RECOMPUTE_MAX_READERS];
    uint64_t traffic;
};

static inline bool recompute_arg_is_of(const struct fuser_arg *arg, uint32_t buffer)
{
    return arg->kind == FUSER_ARG_BUFFER && arg->index == buffer;
}
