/* Trying an access on single work-items: where the sums of the analysis end, an example still proves a race. */
#pragma once

#include "fuser/access/conflict.h"

/* Looks for a pair of neighbouring work-items that touch the same byte, by computing their addresses and the
   conditions they pass. local and between as for conflict_find(). */
bool probe_conflict(const struct conflict_side *a, const struct conflict_side *b, enum conflict_between between,
                    const uint64_t *local, struct conflict_pair *pair);
