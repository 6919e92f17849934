/* Images, samplers and pipes as memory: what kernels do with them becomes what the library does. */
#pragma once

#include "ir/core/ir.h"

/* Whether there were any; calls are to be put in place then. Pipes may stay what they are. */
bool spirv_lower_handles(struct ir_function *f, bool pipes_stay);
