/*
 * The control-flow graph of a function: its blocks in reverse postorder, what dominates them, and their loops. In comes
 * a function's instructions, whose blocks canonicalizing has put in order; out goes what structured code is made from.
 * Uses ir/spirv/decode.
 */
#pragma once

#include "ir/spirv/decode/reader.h"

enum { CFG_MAX_LOOP_DEPTH = 60 };
#define CFG_NONE UINT32_MAX

/* What is known of results and labels, for one function after the other: those have ids of their own. */
struct cfg_ids {
    uint32_t *block;     /* by id: number of the block that defines it or that it begins, plus 1; 0: the module */
    uint8_t *left_depth; /* by id: depth of the outermost loop that the value leaves, plus 1; 0: it leaves none */
};

/* A basic block. Numbers of blocks are places in reverse postorder: an edge to a smaller number goes back. */
struct cfg_node {
    const struct spirv_inst *label, *end; /* end: the terminator */
    uint32_t n_succs, n_preds;
    uint32_t *succs, *preds;        /* each block once */
    uint32_t idom;                  /* of the entry: itself */
    uint32_t depth;                 /* in the tree of dominators */
    uint32_t enter, leave;          /* places in a walk of that tree: dominance is inclusion */
    uint32_t loop;                  /* the innermost one it is in, as the number of its header; CFG_NONE */
    uint32_t pending;               /* edges forward to it that have not been emitted */
    bool only_returns;              /* it has phis and a return, and nothing else */
    bool falls;                     /* control can leave the blocks it dominates for others of its loop */
    uint32_t fall_depth, fall_loop; /* how far up the last walk that found this went, and in which loop */
};

/* A natural loop; kept with its header. */
struct cfg_loop {
    uint32_t header, parent; /* parent: header of the loop around it, or CFG_NONE */
    uint32_t depth;          /* loops around it */
    uint32_t n_exits;
    uint32_t *exits; /* blocks outside that edges from inside lead to, ascending; of those that
                        only return, at most one that is the only exit */
    uint32_t n_live;
    uint32_t *live; /* ids defined inside and used outside */
};

struct cfg {
    struct spirv_reader *r;
    const struct cfg_ids *ids;
    uint32_t n;
    struct cfg_node *nodes;
    struct cfg_loop **loops; /* by header; NULL: heads no loop */
};

/* The reachable blocks with their edges and dominators; false, with a finding, where the graph is irreducible. */
bool cfg_build_graph(struct cfg *g, const struct spirv_function *f);
bool cfg_dominates(const struct cfg *g, uint32_t a, uint32_t b);
/* The block that a label id begins, or CFG_NONE where it cannot be reached. */
uint32_t cfg_block(const struct cfg *g, uint32_t label);
/* Sorts numbers and drops those that occur again; gives how many there are. */
uint32_t cfg_sort_unique(uint32_t *items, uint32_t n);
