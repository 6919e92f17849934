/* Whether computing again is less work than memory is. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/nd_range.h"
#include "ir/core/ir.h"

/* Operations of one work-item of the kernel cleaned up, as if each were an addition. numbers: by parameter, what
   integers are taken to be; 0: nothing. */
uint64_t pays_work_of(const struct ir_function *kernel, const struct nd_range *range, const int64_t *numbers);
/* more: operations that are there besides; less: those that are not done any more; bytes: of memory traffic that is
   saved, or of what launches that run in bands hand on in the cache. */
bool pays_to_recompute(uint64_t more, uint64_t less, uint64_t bytes, bool in_bands);
