/* Pure operations that are several instructions. */
#pragma once

#include "fuser/spirv/base/body.h"

/* False: it is one. args has room for four. */
bool spw_expand(struct spw *w, enum ir_op op, enum ir_kind kind, const struct formula_value *args,
                struct formula_value *result);
