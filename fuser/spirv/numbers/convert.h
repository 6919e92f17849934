/* Conversions that say how to round or saturate, and the same bits as another type. */
#pragma once

#include "fuser/spirv/base/body.h"

bool spw_is_conversion(const struct ir_inst *inst); /* of floats and integers, with attributes */
struct formula_value spw_convert(struct spw *w, const struct ir_inst *inst, struct formula_value x);
/* Bitcasts, and pointers as numbers and as pointers to other memory; false: it is no such operation. */
bool spw_reinterpret(struct spw *w, const struct ir_inst *inst);
