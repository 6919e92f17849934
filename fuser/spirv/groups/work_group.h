/* Operations of whole work-groups in Vulkan, through memory of the work-group. */
#pragma once

#include "fuser/spirv/base/body.h"

/* On one scalar of the operand: its result. */
uint32_t spw_work_group_collective(struct spw *w, const struct ir_inst *inst, ir_type t, uint32_t x);
/* A reduction of numbers of one word, and with it those behind it that already could be: true; they are written then,
   and when their turn comes there is nothing left to do. False: it is something else. */
bool spw_work_group_together(struct spw *w, const struct ir_inst *first);
