/* Barriers, and operations that all work-items of a work-group or sub-group take part in. */
#pragma once

#include "fuser/spirv/base/body.h"

void spw_group(struct spw *w, const struct ir_inst *inst);
void spw_fence(struct spw *w, const struct ir_inst *inst);
