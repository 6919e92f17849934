/* Along which dimension rows of work-items run. */
#pragma once

#include "ir/core/ir.h"

/* The dimension that row_dimension_choose() would give for the kernel as it is. */
unsigned row_dimension_find(const struct ir_function *kernel);
/* The dimension that takes the place of x in the kernel's ids and sizes, and x its place; 0: none. */
unsigned row_dimension_choose(struct ir_function *kernel);
