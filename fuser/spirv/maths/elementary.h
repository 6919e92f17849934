/* Functions that the CPU's code takes from a library, written out in f64: within OpenCL's bounds for f32, whatever the
   device's own functions are. Those of exponents and logarithms are within its bounds for f64, too. */
#pragma once

#include "ir/formula/types.h"

struct formula_value spw_exp(const struct formula *f, struct formula_value x);
struct formula_value spw_exp2(const struct formula *f, struct formula_value x);
struct formula_value spw_exp10(const struct formula *f, struct formula_value x);
struct formula_value spw_expm1(const struct formula *f, struct formula_value x);
struct formula_value spw_log(const struct formula *f, struct formula_value x);
struct formula_value spw_log2(const struct formula *f, struct formula_value x);
struct formula_value spw_log10(const struct formula *f, struct formula_value x);
struct formula_value spw_log1p(const struct formula *f, struct formula_value x);
struct formula_value spw_pow(const struct formula *f, struct formula_value x, struct formula_value y);
struct formula_value spw_cbrt(const struct formula *f, struct formula_value x);
struct formula_value spw_hypot(const struct formula *f, struct formula_value x, struct formula_value y);
/* Hyperbolic ones and their inverses. */
struct formula_value spw_sinh(const struct formula *f, struct formula_value x);
struct formula_value spw_cosh(const struct formula *f, struct formula_value x);
struct formula_value spw_tanh(const struct formula *f, struct formula_value x);
struct formula_value spw_asinh(const struct formula *f, struct formula_value x);
struct formula_value spw_acosh(const struct formula *f, struct formula_value x);
struct formula_value spw_atanh(const struct formula *f, struct formula_value x);
