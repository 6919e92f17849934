/* x86 instruction selection for operations on whole registers. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* An operation by an instruction or two for each chunk; false: there is none. */
bool x86_op(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
            struct lanes *result);
