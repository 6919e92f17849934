/* The kernels of random programs. */
#pragma once

#include "tests/support/random_program.h"

struct strbuf;

/* Adds the text of kernel `number` to out, and says how it is called. */
void program_kernel_make(struct program_kernel *kernel, struct strbuf *out, uint64_t number);
