/* The formulas of OpenCL.std's functions. */
#pragma once

#include "ir/formula/types.h"

bool formula_math(const struct formula *f, enum ir_op op, enum ir_kind kind, const struct formula_value *args,
                  struct formula_value *result);
