/* Variables and pipes of the kernel's module. */
#pragma once

#include "fuser/cpu/batch/code.h"

/* Those that the functions use get memory of the process, or places in that of the work-group. */
void variables_place(struct batch *b, struct ir_function *const *functions, uint32_t n);
void variables_free(struct batch *b);
