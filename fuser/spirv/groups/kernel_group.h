/* Operations of groups in the kernel dialect. */
#pragma once

#include "fuser/spirv/base/body.h"

void spw_kernel_group(struct spw *w, const struct ir_inst *inst);
/* Queries of sub-groups, and what those of its work-items do that are there. */
uint32_t spw_kernel_query(struct spw *w, enum ir_op op);
void spw_kernel_sub_group(struct spw *w, const struct ir_inst *inst);
/* Block reads and writes. */
void spw_kernel_block(struct spw *w, const struct ir_inst *inst);
