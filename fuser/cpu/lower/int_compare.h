/* Comparisons of integers in vectors. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* False: the instruction set has it. Not all operands are uniform. */
bool lower_int_comparison(struct emit *e, enum ir_op op, const struct lanes *args, struct lanes *result);
