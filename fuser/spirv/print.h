/* printf for devices that have none: records in memory. */
#pragma once

#include "ir/core/ir.h"

/* Calls are in place already. Gives whether the kernel prints: then it has a new last parameter, the address of its
   struct spirv_prints. What prints in a way that cannot be told stays as it is. */
bool spirv_lower_prints(struct ir_function *kernel);
/* Is what the instruction stores an argument that is printed? */
bool spirv_stores_to_print(const struct ir_inst *store);
