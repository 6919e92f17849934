/* Functions of integers that are several instructions. */
#pragma once

#include "fuser/spirv/base/body.h"

bool spw_expand_integer(struct spw *w, enum ir_op op, enum ir_kind kind, const struct formula_value *args,
                        struct formula_value *result);
