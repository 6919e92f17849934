/* How much the compiled code of a kernel has to do. */
#pragma once

#include <stdint.h>

#include "ir/base/nd_range.h"
#include "ir/core/ir.h"

/* Operations of one work-item of the kernel cleaned up, as fuser/cost counts them. numbers: by parameter, what integers
   are taken to be; 0: nothing. */
uint64_t operations_of_kernel(const struct ir_function *kernel, const struct nd_range *range, const int64_t *numbers);
/* The same of one that is cleaned up. */
uint64_t operations_of_clean(struct ir_function *kernel, const struct nd_range *range, const int64_t *numbers);
