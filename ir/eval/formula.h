/* Operations by a formula (ir/formula/formula.h). */
#pragma once

#include "ir/core/ir.h"
#include "ir/formula/types.h"

/* Computes on the bits of one number. */
extern const struct formula eval_on_bits;
/* If there is one. kind is that of the operands T, the result's unless that is an i32. */
bool eval_formula(enum ir_op op, enum ir_kind kind, const uint64_t v[4], uint64_t *r);
bool eval_geometric(enum ir_op op, ir_type type, const uint64_t *const *operands, uint64_t *r);
