/* Kernels with barriers are cut into parallel regions: what runs from one barrier or group operation to the next. */
#pragma once

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/core/ir.h"

/* By instruction number: the ifs and loops that are control flow of the whole work-group, since there is a barrier in
   them, or they leave a loop with one. */
bool *parallel_regions_mark(struct arena *arena, struct ir_function *kernel);

/* A load of what the kernel only reads: it gives the same later. */
bool reads_constant_memory(const struct ir_inst *inst);
/* Into a parameter of global memory that the kernel accesses so. */
bool leads_into(const struct ir_value *pointer, enum ir_access access);
