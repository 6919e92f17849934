/* The natural loops of a graph, and how control leaves them. */
#pragma once

#include "ir/spirv/cfg/graph.h"

/* Finds the loops; false, with a finding: too many are inside each other. */
bool cfg_find_loops(struct cfg *g);
/* The block is in the loop; every block is in CFG_NONE. */
bool cfg_in_loop(const struct cfg *g, uint32_t node, uint32_t loop);
/* The loop that control is in before it enters the block: of a header that around its loop. */
uint32_t cfg_outer(const struct cfg *g, uint32_t node);
bool cfg_exit(const struct cfg_loop *loop, uint32_t node);
