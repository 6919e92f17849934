/* Pure instructions on all components of their operands. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

void emit_pure(struct emit *e, const struct ir_inst *inst, struct lanes *result);
