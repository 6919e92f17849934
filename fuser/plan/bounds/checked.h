/*
 * The graph whose kernels check their accesses, where that is asked for: those that are not proved to be inside of
 * their buffers (fuser/bounds). This room takes facts of the graph and gives that graph.
 */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/graph/facts.h"

struct checked_graph {
    const struct fuser_graph *graph; /* that of the facts where nothing is to be checked */
    uint32_t n_modules;
    struct ir_module **modules; /* owned */
};

void checked_graph_make(struct plan_context *ctx, const struct plan_facts *f, struct checked_graph *out);
void checked_graph_free(struct checked_graph *c);
