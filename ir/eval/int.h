/* Integer operations on one lane. */
#pragma once

#include "ir/core/ir.h"

/* v holds the operands' words, zero where there are fewer than four. False: not an operation of that family. */
bool eval_int(enum ir_op op, unsigned bits, const uint64_t v[4], uint64_t *r);
