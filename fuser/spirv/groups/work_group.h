/* Operations of whole work-groups in Vulkan, through memory of the work-group. */
#pragma once

#include "fuser/spirv/base/body.h"

/* On one scalar of the operand: its result. */
uint32_t spw_work_group_collective(struct spw *w, const struct ir_inst *inst, ir_type t, uint32_t x);
