/* How much a launch has to do. */
#pragma once

#include "ir/base/nd_range.h"
#include "ir/core/ir.h"

/* Operations of all work-items together, weighed: an estimate, since what loops and branches do is known when it runs.
 */
uint64_t work_of_launch(struct ir_function *kernel, const struct nd_range *range);
/* Of a loop: how often its body runs each time, known or assumed. */
uint64_t work_rounds(const struct ir_inst *loop);
