/* Copies of kernels to work on, and their parameters. */
#pragma once

#include "fuser/merge/merge_state.h"

/* A copy of the kernel as it is computed in any case: contracted where the device does that, without calls and early
   returns, and with addresses that can be read. NULL: f says why not. */
struct ir_function *recompute_copy(struct fuse *f, const struct ir_function *kernel, bool contract);
/* In all of f the integers are what they are taken to be; numbers as in struct recompute_kernel. */
void recompute_set_numbers(struct ir_function *f, const int64_t *numbers);
/* The parameter goes; nothing may use it any more. */
void recompute_drop_param(struct ir_function *f, uint32_t i);
