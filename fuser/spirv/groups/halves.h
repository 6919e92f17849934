/* Reductions of work-groups by halves, of numbers of one word: several that are known at the same time, at once. */
#pragma once

#include "fuser/spirv/base/body.h"

struct spw_reduction {
    ir_type t;
    enum ir_group_op op;
    uint32_t x; /* what the work-item has, and then what all have */
};

/* What the first work-item has of all n (a word, at least 1) when each has taken in the one so far behind it, where
   that is there, for distances from `distance` (the largest power of two below n; 0 for 1) down to 1. All work-items
   come, and all have it. own: the work-item's number. */
void spw_reduce_by_halves(struct spw *w, struct spw_reduction *reductions, unsigned n_reductions, uint32_t own,
                          uint32_t n, uint32_t distance);
