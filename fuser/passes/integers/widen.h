/* Extensions and cut off high bits that change nothing, as the integers lie in between. */
#pragma once

#include "fuser/passes/integers/known_ranges.h"

/* What can stand in place of the instruction's result, made of instructions put before it; NULL: nothing better. */
struct ir_value *widen_inst(const struct known_ranges *k, struct ir_inst *inst);
