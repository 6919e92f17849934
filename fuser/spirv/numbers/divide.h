/* Quotients and remainders of integers, in both dialects. */
#pragma once

#include "fuser/spirv/base/body.h"

/* op: UDIV, UREM, SDIV, SREM. By zero gives zero, and what does not fit wraps. */
struct formula_value spw_divided(struct spw *w, enum ir_op op, enum ir_kind kind, struct formula_value x,
                                 struct formula_value y);
/* Likewise by a number that is known; false: it is not, or may stay as it is. */
bool spw_divided_by_known(struct spw *w, enum ir_op op, enum ir_kind kind, struct formula_value x,
                          struct formula_value y, struct formula_value *result);
