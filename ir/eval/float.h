/* Floating-point operations and comparisons on one lane. */
#pragma once

#include "ir/core/ir.h"

/* v holds the operands' words, zero where there are fewer than four. False: not an operation of that family. */
bool eval_float(enum ir_op op, enum ir_kind kind, const uint64_t v[4], uint64_t *r);
bool eval_compare(enum ir_op op, ir_type type, const uint64_t v[4], uint64_t *r);
