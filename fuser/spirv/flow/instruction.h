/* One instruction of the kernel, handed to its family. */
#pragma once

#include "fuser/spirv/base/body.h"

void spw_instruction(struct spw *w, const struct ir_inst *inst);
