/* Images. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

void emit_image(struct emit *e, const struct ir_inst *inst, struct lanes *result);
