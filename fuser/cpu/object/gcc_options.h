/* What gcc is told. */
#pragma once

#include <libgccjit.h>
#include <stdbool.h>

enum gcc_effort {
    GCC_EFFORT_NONE,     /* each statement for itself */
    GCC_EFFORT_LEAN,     /* what pays in code that is vectors already */
    GCC_EFFORT_VECTORIZE /* all, and vectors of its own */
};

/* for_isa: the instruction set's own, NULL at the end. keeps_order: what was emitted in turns for several work-items
   stays so. */
void gcc_options_set(gcc_jit_context *gcc, const char *const *for_isa, enum gcc_effort effort, bool keeps_order);
