/* Sines, tangents and their inverses of f32, written out. */
#pragma once

#include "ir/formula/types.h"

struct formula_value formula_sin_f32(const struct formula *f, struct formula_value x);
struct formula_value formula_cos_f32(const struct formula *f, struct formula_value x);
struct formula_value formula_tan_f32(const struct formula *f, struct formula_value x);
struct formula_value formula_asin_f32(const struct formula *f, struct formula_value x);
struct formula_value formula_atan_f32(const struct formula *f, struct formula_value x);
struct formula_value formula_atan2_f32(const struct formula *f, struct formula_value y, struct formula_value x);
