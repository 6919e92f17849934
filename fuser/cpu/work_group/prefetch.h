/* Prefetch for the next work-group. */
#pragma once

#include "fuser/cpu/jit/emit.h"

/* Fetches what the next group will load in its first region, these instructions. */
void prefetch_next_group(struct emit *e, const struct ir_inst *first, const struct ir_inst *end);
