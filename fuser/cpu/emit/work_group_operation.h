/* Operations of a work-group: for a vector of its work-items, and what is done once, before and after all of them. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

void work_group_operation_begin(struct emit *e, const struct ir_inst *inst); /* before the work-items come to it */
void emit_work_group_operation(struct emit *e, const struct ir_inst *inst, struct lanes *result);
void work_group_operation_end(struct emit *e, const struct ir_inst *inst); /* after all have */
