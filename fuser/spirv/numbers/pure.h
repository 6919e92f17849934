/* Instructions that depend on their operands alone, part by part. */
#pragma once

#include "fuser/spirv/base/body.h"

void spw_pure(struct spw *w, const struct ir_inst *inst);
