/* What gcc is told. */
#pragma once

#include <libgccjit.h>
#include <stdbool.h>

/* for_isa: the instruction set's own, NULL at the end. */
void gcc_options_set(gcc_jit_context *gcc, const char *const *for_isa, bool is_scalar, int level);
