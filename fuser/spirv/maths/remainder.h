/* Remainders, which are exact. */
#pragma once

#include "ir/formula/types.h"

/* Of f64; of f32 in f64 they are those of f32, too. */
struct formula_value spw_frem(const struct formula *f, struct formula_value x, struct formula_value y);
struct formula_value spw_remainder(const struct formula *f, struct formula_value x, struct formula_value y);
