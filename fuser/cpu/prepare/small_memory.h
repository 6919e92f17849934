/* Which pointers lead into memory that is known to be small (ir/core/assumptions.h). */
#pragma once

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/core/ir.h"

/* By ir_value.scratch, which numbers the values. */
bool *small_memory_find(struct arena *arena, struct ir_function *kernel, uint32_t n_values);
