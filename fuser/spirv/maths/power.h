/* Powers and cube roots, written out in f64. */
#pragma once

#include "ir/formula/types.h"

struct formula_value spw_pow(const struct formula *f, struct formula_value x, struct formula_value y);
struct formula_value spw_pow_f32(const struct formula *f, struct formula_value x, struct formula_value y);
struct formula_value spw_cbrt(const struct formula *f, struct formula_value x);
