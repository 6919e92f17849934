/*
 * What is known of a graph's nodes, and what they do with its buffers.
 *
 * This room takes the graph as it was given, checks it (validate.h), leaves out empty nodes, makes program-scope
 * variables buffers, analyses the kernels (uses.h) and gives the facts here and the edges (edges.h). Uses access/,
 * passes/ to put functions into kernels, and ir/.
 */
#pragma once

#include "fuser/access/sites.h"
#include "fuser/graph/graph.h"

struct plan_analyses;

enum { NO_USE = UINT32_MAX };

/* One node's use of one buffer through one argument (of a copy: argument 0 is `from`, 1 is `to`). A kernel that needs
   only the address neither reads nor writes. */
struct plan_use {
    uint32_t node, arg, buffer;
    uint64_t first, end; /* bytes of the buffer */
    bool reads, writes;
    struct fuser_props props; /* what holds for it, the buffer's included */
};

struct plan_node {
    struct nd_range range;                /* KERNEL: the local size filled in where the kernel requires one */
    const struct access_analysis *access; /* KERNEL */
    uint32_t operations;                  /* KERNEL: with functions put in */
    uint32_t first_use, n_uses;
};

struct plan_facts {
    const struct fuser_graph *graph;
    const struct fuser_device *device;
    bool small_memory; /* all buffers have at most IR_SMALL_MEMORY bytes */
    struct plan_node *nodes;
    uint32_t n_uses;
    struct plan_use *uses;          /* by node */
    uint32_t *buffer_uses_start;    /* n_buffers + 1 */
    uint32_t *buffer_uses;          /* indices of uses, by buffer */
    struct plan_analyses *analyses; /* of distinct kernels and ranges; owned */
};

/* The argument is a pipe. */
static inline bool facts_is_pipe(const struct plan_facts *f, const struct plan_use *use)
{
    const struct fuser_node *n = &f->graph->nodes[use->node];
    return n->kernel && ir_type_kind(n->kernel->params[use->arg].value->type) == IR_KIND_PIPE;
}
