/* Module-scope variables: where each lies, and the data of the object. */
#pragma once

#include "fuser/cpu/jit/emit.h"

/* Places those that the kernel uses: data in the object, or bytes of the work-group's memory, whose sum is returned. */
uint32_t globals_place(struct emit *e);
