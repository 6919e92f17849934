/* Running kernels in the interpreter on made-up data, to compare what different kernels make of it. */
#pragma once

#include "ir/interp/interp.h"

/* One argument: a buffer, a scalar, a by-value struct, or work-group memory. */
struct slot {
    enum interp_arg_kind kind;
    ir_type elem; /* what it holds: decides the data */
    uint64_t bytes;
    uint8_t *data;
};

/* A slot that fits a parameter: buffers and work-group memory of `count` elements, filled from the seed with
   small numbers (values between -8 and 8 for floats). */
struct slot slot_new(const struct ir_module *m, const struct ir_param *p, uint64_t count, uint64_t seed);
void slot_clear(struct slot *s);

/* Runs the kernel, one slot per parameter, checking for races and unwritten memory. Findings are printed
   and make it false. */
bool slots_run(const struct ir_function *kernel, const struct nd_range *range, struct slot *const *slots);
