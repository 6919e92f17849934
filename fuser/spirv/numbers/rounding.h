/* Operations that drivers of Vulkan need not round as IEEE 754 says. */
#pragma once

#include "fuser/spirv/base/body.h"

/* False: it is no such operation, or the device rounds it right. */
bool spw_expand_rounding(struct spw *w, enum ir_op op, enum ir_kind kind, const struct formula_value *args,
                         struct formula_value *result);
