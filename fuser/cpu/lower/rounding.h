/* Conversions to floats that round otherwise than to nearest even. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

bool rounding_matters(const struct ir_inst *inst);
/* Of one component, to a float kind. */
struct lanes rounding_convert(struct emit *e, enum ir_op op, enum ir_kind kind, enum ir_rounding rounding,
                              struct lanes x);
