/* The lesser and the greater of two floats, where one is the same for all lanes. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* False: it is as its formula says (ir/formula/formula.c). */
bool lower_extreme(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args, struct lanes *result);
/* Asks a uniform float that is a bound of vectors whether it is a NaN: once, here. */
void extreme_ask(struct emit *e, struct lanes *bound);
