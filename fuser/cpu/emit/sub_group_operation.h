/* Operations of a sub-group, which is a vector. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

void emit_sub_group_operation(struct emit *e, const struct ir_inst *inst, struct lanes *result);
