/* Atomic operations. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

void emit_atomic(struct emit *e, const struct ir_inst *inst, struct lanes *result);
