/* What an instruction is, where the operation alone does not say it: its scope and its place decide too. */
#pragma once

#include <stdbool.h>

#include "ir/core/objects.h"

/* A barrier or group operation that all work-items of the work-group take part in. */
bool ir_is_work_group_collective(const struct ir_inst *inst);
/* Work-items of a sub-group take part: collectives of that scope, votes, shuffles, block reads and writes. */
bool ir_is_sub_group_op(const struct ir_inst *inst);
/* Its outcome depends on which work-items are a sub-group: such an operation, or a query of ids and sizes. */
bool ir_sees_sub_group(const struct ir_inst *inst);
/* Work-items of some group take part together, so that it may not move to where others come; calls are not counted. */
bool ir_is_convergent(const struct ir_inst *inst);
/* Like that, and all work-items of the scope take part, not merely those that happen to come there. */
bool ir_is_collective(const struct ir_inst *inst);

/* The innermost loop whose body the instruction stands in, or NULL. */
struct ir_inst *ir_enclosing_loop(const struct ir_inst *inst);
/* The if or loop that a yield, break or continue ends. */
struct ir_inst *ir_terminator_target(const struct ir_inst *terminator);
