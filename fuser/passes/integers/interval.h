/* Between which numbers an integer lies, read as signed in its own width. */
#pragma once

#include "ir/core/ir.h"

struct interval {
    int64_t low, high;
};

struct interval interval_all(unsigned bits);                             /* all numbers of that width */
struct interval interval_of(__int128 low, __int128 high, unsigned bits); /* all, where these do not fit the width */
struct interval interval_union(struct interval a, struct interval b);
/* Of the result of a pure operation on scalar integers; those of its operands are given. */
struct interval interval_of_inst(const struct ir_inst *inst, const struct interval *operands);
/* The same for sums, differences, products and shifts: whether the result is the exact one, without wrapping. */
bool interval_is_exact(const struct ir_inst *inst, const struct interval *operands);
/* Whether the comparison of two such numbers has one outcome: 0, 1, or -1 where not. */
int interval_compare(enum ir_op op, struct interval a, struct interval b);
