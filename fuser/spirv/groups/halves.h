/* Reductions of work-groups by halves, of numbers of one word. */
#pragma once

#include "fuser/spirv/base/body.h"

/* Where all work-items have put their numbers at their places of the exchange (members.h), and waited: what the first
   one has of all n (a word, at least 1) when each has taken in the one so far behind it, where that is there, for
   distances from `distance` (the largest power of two below n; 0 for 1) down to 1. All work-items come, and all have
   it. own: the work-item's number. */
uint32_t spw_reduced_by_halves(struct spw *w, ir_type t, enum ir_group_op op, uint32_t own, uint32_t n,
                               uint32_t distance);
