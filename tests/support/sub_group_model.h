/* What sub-group functions give: a launch in one dimension, and the values of its work-items, computed on the host. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/core/type.h"

struct sg_type {
    const char *name; /* OpenCL C's */
    ir_type type;     /* scalar */
    bool is_signed;
};

/* A launch; numbers of elements lie lane by lane, `lanes` for each work-item. */
struct sg_launch {
    uint32_t size, local, global;
    unsigned lanes;
    struct sg_type type;
    const uint64_t *x, *y; /* the operands' bits */
};

/* The sub-group that a work-item is in: its first work-item, how many there are, and which one it is. */
struct sg_place {
    uint32_t first, n, id, number; /* number: of the sub-group in its work-group */
};

struct sg_place sg_place(const struct sg_launch *l, uint32_t item);

/* The value of work-item `item` in a lane; false: it is undefined. */
typedef bool sg_model(const struct sg_launch *l, unsigned op, uint32_t item, unsigned lane, uint64_t *value);

sg_model sg_broadcast, sg_reduce, sg_scan_inclusive, sg_scan_exclusive, sg_shuffle, sg_shuffle_up, sg_shuffle_down,
    sg_rotate;

/* Operations of reductions and scans, by number: the word of the IR; NULL past the last one of the type. */
const char *sg_group_op(const struct sg_type *t, unsigned op);
