/* Program-scope variables and pipes, which become buffers of the graph: edges, groups and launches treat them alike. */
#pragma once

#include "fuser/plan/base/context.h"

struct lowered_kernel;

struct program_scope {
    struct plan_context *ctx;
    const struct fuser_graph *graph; /* its kernels take the variables that they use as arguments */
    uint32_t n_graph_buffers;        /* of the graph as it was given; those behind are the variables */
    uint32_t n_variables;
    struct fuser_program_variable *variables;
    struct lowered_kernel *kernels; /* owned */
};

bool program_scope_lower(struct plan_context *ctx, const struct fuser_graph *graph, struct program_scope *s);
void program_scope_free(struct program_scope *s);

/* Is the buffer a variable or pipe, which no host sees? */
static inline bool program_scope_has(const struct program_scope *s, uint32_t buffer)
{
    return buffer >= s->n_graph_buffers;
}
