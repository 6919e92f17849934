/* A module taken apart into several that import from each other, to be linked again. */
#pragma once

#include "ir/core/ir.h"

/* Each function and variable goes to one of n parts by the seed and is exported there; the other parts import it.
   What the module imports itself is defined by one of the parts: functions return any value, variables are 0. */
void split_module(const struct ir_module *m, uint64_t seed, struct ir_module **parts, uint32_t n);
