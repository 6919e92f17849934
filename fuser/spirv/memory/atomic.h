/* Atomic operations. */
#pragma once

#include "fuser/spirv/base/body.h"

void spw_atomic(struct spw *w, const struct ir_inst *inst);
