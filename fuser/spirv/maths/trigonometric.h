/* Sines and arcs, written out in f64, within OpenCL's bounds. Those whose names end in _f32 have the digits that an f32
   needs. */
#pragma once

#include "ir/formula/types.h"

struct formula_value spw_sin(const struct formula *f, struct formula_value x);
struct formula_value spw_sin_f32(const struct formula *f, struct formula_value x);
struct formula_value spw_cos(const struct formula *f, struct formula_value x);
struct formula_value spw_cos_f32(const struct formula *f, struct formula_value x);
struct formula_value spw_tan(const struct formula *f, struct formula_value x);
struct formula_value spw_tan_f32(const struct formula *f, struct formula_value x);
struct formula_value spw_sinpi(const struct formula *f, struct formula_value x);
struct formula_value spw_cospi(const struct formula *f, struct formula_value x);
struct formula_value spw_asin(const struct formula *f, struct formula_value x);
struct formula_value spw_acos(const struct formula *f, struct formula_value x);
struct formula_value spw_atan(const struct formula *f, struct formula_value x);
struct formula_value spw_atan2(const struct formula *f, struct formula_value y, struct formula_value x);
