/* Operations in terms of simpler ones, the same for scalars and vectors. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* False: it is a simple one. args has room for four. */
bool lower_op(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args, struct lanes *result);
