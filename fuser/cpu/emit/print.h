/* printf. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

void emit_print(struct emit *e, const struct ir_inst *inst, struct lanes *result);
