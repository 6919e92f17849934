/* A kernel to be checked, as it is launched. */
#pragma once

#include "ir/base/nd_range.h"

/* What a pointer parameter leads to. */
struct bounds_memory {
    uint64_t bytes;   /* behind where it points */
    const char *text; /* "argument 1 `out` (40 bytes)"; NULL: nothing is known of it, as of a scalar */
};

/* A kernel as it is launched. */
struct bounds_launch {
    const char *name;                   /* of the kernel, in texts */
    uint32_t number;                    /* the lowest of those that run as one is told of first */
    struct nd_range range;              /* local sizes 0: not known */
    uint32_t sub_group_size;            /* 0: not known */
    const struct bounds_memory *memory; /* by parameter */
};
