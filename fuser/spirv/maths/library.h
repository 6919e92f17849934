/* Functions that are no instruction of Vulkan. */
#pragma once

#include "fuser/spirv/base/body.h"

/* op as formulas have it: FORMULA_LIBRARY and more, or one that is exact. False: there is nothing for it. */
bool spw_library(struct spw *w, unsigned op, enum ir_kind kind, const struct formula_value *args,
                 struct formula_value *result);
