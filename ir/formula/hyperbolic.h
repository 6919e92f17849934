/* Hyperbolic functions of f32, and hypotenuses, written out. */
#pragma once

#include "ir/formula/types.h"

/* Of |x| up to formula_hyperbolic_most, where the smaller power is 0 at last. */
static const double formula_hyperbolic_most = 87;
struct formula_value formula_sinh_f32(const struct formula *f, struct formula_value x);
struct formula_value formula_cosh_f32(const struct formula *f, struct formula_value x);

struct formula_value formula_tanh_f32(const struct formula *f, struct formula_value x);
struct formula_value formula_hypot(const struct formula *f, enum ir_kind kind, struct formula_value x,
                                   struct formula_value y);
