/* x y + z, rounded once, for devices whose own rounds twice. */
#pragma once

#include "ir/formula/types.h"

/* By way of f64. */
struct formula_value spw_fma_f32(const struct formula *f, const struct formula_value *args);
struct formula_value spw_fma_f64(const struct formula *f, const struct formula_value *args);
