/* The gamma function and the error functions, written out in f64, within OpenCL's bounds. */
#pragma once

#include "ir/formula/types.h"

struct formula_value spw_erf(const struct formula *f, struct formula_value x);
struct formula_value spw_erfc(const struct formula *f, struct formula_value x);
struct formula_value spw_tgamma(const struct formula *f, struct formula_value x);
struct formula_value spw_lgamma(const struct formula *f, struct formula_value x);
