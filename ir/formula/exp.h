/* exp, log and erf of f32, which need no library. */
#pragma once

#include "ir/formula/types.h"

struct formula_value formula_exp_f32(const struct formula *f, struct formula_value x);
struct formula_value formula_log_f32(const struct formula *f, struct formula_value x);
struct formula_value formula_erf_f32(const struct formula *f, struct formula_value x);
