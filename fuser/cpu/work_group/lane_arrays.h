/* Private arrays of which work-items access the same elements together: these lie side by side. */
#pragma once

#include "fuser/cpu/prepare/uniformity.h"

/* Decides it for each private array of a kernel that runs in vectors of so many lanes, 1: one by one; of its group: it
   lies beside the work-group's memory, and not on the stack once for each vector. */
void lane_arrays_place(struct arena *arena, struct ir_function *kernel, unsigned width, bool of_group);
