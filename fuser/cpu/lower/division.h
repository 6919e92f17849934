/* Division of integers over vectors, for which processors have no instruction. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* UDIV, UREM, SDIV, SREM and SMOD where not all arguments are uniform; false: lane by lane. */
bool lower_division(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args, struct lanes *result);
