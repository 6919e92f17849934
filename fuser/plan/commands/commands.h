/*
 * Copies and fills that a kernel can do by the way: each is made a kernel whose work-items move what a neighbour's
 * work-items are at, and which is then grouped like all others.
 *
 * This room takes the facts of the graph and gives a graph in which such nodes are kernels (command_kernel.h makes
 * one). Those that no other kernel takes into its launch run as what they were.
 */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/graph/facts.h"

struct commands {
    const struct fuser_graph *graph; /* that of the facts where none is made a kernel */
    uint32_t n_modules;
    struct ir_module **modules; /* owned */
};

/* False where the graph has a cycle. */
bool commands_make_kernels(struct plan_context *ctx, const struct plan_facts *f, struct commands *out);
void commands_free(struct commands *c);
