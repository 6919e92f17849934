/* Functions that are no instruction of Vulkan. */
#pragma once

#include "ir/formula/types.h"

/* op as formulas have it: FORMULA_LIBRARY and more, or one that is exact. all_digits: an f64's are wanted, not those of
   an f32 that is computed in f64. False: there is nothing for it. */
bool spw_library(const struct formula *f, unsigned op, enum ir_kind kind, bool all_digits,
                 const struct formula_value *args, struct formula_value *result);
