/* Calls of what the launch brings along (struct kernel_functions). */
#pragma once

#include <stddef.h>

#include "fuser/cpu/simd/lanes.h"

/* The i32 at an offset of an image's or a pipe's record. */
struct lanes runtime_field(struct emit *e, struct lanes record, size_t offset);
/* function: its offset in struct kernel_functions; result NULL: nothing. */
void runtime_call(struct emit *e, size_t function, gcc_jit_type *result, unsigned n, rval *args, lval *to);
