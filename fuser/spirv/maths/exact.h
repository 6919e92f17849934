/* Functions that are exact: exponents, and remainders. */
#pragma once

#include "ir/formula/types.h"

/* False: it is none of them. */
bool spw_exact(const struct formula *f, enum ir_op op, enum ir_kind kind, const struct formula_value *args,
               struct formula_value *result);
