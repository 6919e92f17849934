/* Operations of a work-group and of a sub-group: which they are, and which kernels have some. */
#pragma once

#include <stdbool.h>

#include "ir/core/ir.h"

/* A barrier or operation of a work-group to which other work-items must have come before what follows it may run. */
bool synchronizes_work_group(const struct ir_inst *inst);
bool is_sub_group_operation(const struct ir_inst *inst); /* or one of its ids and sizes */

bool uses_work_group_operations(const struct ir_function *kernel);
bool uses_sub_groups(const struct ir_function *kernel);
bool uses_local_params(const struct ir_function *kernel);     /* that lead into memory of the work-group */
unsigned sub_group_size_of(const struct ir_function *kernel); /* the number it asks for, or the primary one */
