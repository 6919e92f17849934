/* Functions that the CPU's code takes from a library, written out in f64: within OpenCL's bounds for f64, whatever the
   device's own functions are. Those whose names end in _f32 have the digits that an f32 needs. */
#pragma once

#include "fuser/spirv/maths/pair.h"

struct formula_value spw_exp(const struct formula *f, struct formula_value x);
/* Of x + low, which is below a unit or so. */
struct formula_value spw_exp_of_sum(const struct formula *f, struct formula_value x, struct formula_value low);
struct formula_value spw_exp2(const struct formula *f, struct formula_value x);
struct formula_value spw_exp10(const struct formula *f, struct formula_value x);
struct formula_value spw_expm1(const struct formula *f, struct formula_value x);
struct formula_value spw_log(const struct formula *f, struct formula_value x);
/* To 65 bits; x is positive and finite. */
struct spw_pair spw_log_pair(const struct formula *f, struct formula_value x);
struct formula_value spw_log2(const struct formula *f, struct formula_value x);
struct formula_value spw_log10(const struct formula *f, struct formula_value x);
struct formula_value spw_log1p(const struct formula *f, struct formula_value x);
/* Hyperbolic ones and their inverses. */
struct formula_value spw_sinh(const struct formula *f, struct formula_value x);
struct formula_value spw_cosh(const struct formula *f, struct formula_value x);
struct formula_value spw_tanh(const struct formula *f, struct formula_value x);
struct formula_value spw_asinh(const struct formula *f, struct formula_value x);
struct formula_value spw_acosh(const struct formula *f, struct formula_value x);
struct formula_value spw_atanh(const struct formula *f, struct formula_value x);
