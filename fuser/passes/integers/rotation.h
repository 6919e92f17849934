/* Rotations that are written as two shifts. */
#pragma once

#include "ir/core/ir.h"

/* rotate(x, n) for a sum, `or` or `xor` of `x << n` and `x >> (bits - n)`; NULL: it is none. */
struct ir_value *rotation_inst(struct ir_inst *inst);
