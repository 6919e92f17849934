/* A kernel that writes a buffer, and one that reads it. */
#pragma once

#include "ir/base/nd_range.h"
#include "ir/core/ir.h"

/* A kernel as it is launched. */
struct recompute_kernel {
    const struct ir_function *kernel;
    struct nd_range range;
    const int64_t *numbers; /* by parameter: what integers are taken to be; 0: nothing */
    const bool *is_buffer;  /* by parameter: whether it is the buffer */
};

struct recompute_request {
    struct recompute_kernel producer, consumer; /* the producer has the buffer once */
    bool contract;                              /* the device has an fma, and kernels use it where they may */
    bool small_memory;                          /* buffers of the graph have at most IR_SMALL_MEMORY bytes */
};
