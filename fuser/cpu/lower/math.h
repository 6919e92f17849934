/* Functions of libraries, on one lane or on vectors. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

rval math_scalar(struct emit *e, enum ir_op op, enum ir_kind kind, enum ir_kind from, rval *args);
bool math_vector(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
                 struct lanes *result);
