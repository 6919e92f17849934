/* The formulas of ir/formula/formula.h, emitted. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* False: there is none. args has room for three. */
bool lower_formula(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args, struct lanes *result);
/* dot to normalize, of vectors with n components. */
void lower_geometric(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *a,
                     const struct lanes *b, struct lanes *result);
