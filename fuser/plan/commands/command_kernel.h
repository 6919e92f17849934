/* A copy or fill as a kernel: each work-item moves what a work-item of another kernel is at. */
#pragma once

#include "fuser/access/sites.h"
#include "fuser/graph/graph.h"

/* Where work-items are in the bytes that are copied or filled. */
struct command_shape {
    ir_type type;
    unsigned elements;     /* of a work-item, one behind the other */
    int64_t factor[3];     /* bytes from a work-item to the next, by dimension; 0: there is one */
    struct nd_range range; /* of as many work-items as it takes */
};

/* As in an accessor of `bytes` bytes, `ahead` bytes before the region, the kernel over the range accesses it. False:
   its work-items are not side by side, or not at the region's. */
bool command_shape_find(const struct fuser_node *command, int64_t ahead, const struct access_summary *accesses,
                        const struct nd_range *range, struct command_shape *out);
/* Its parameters are what is copied from, if it is a copy, and what is written, each from its first byte on. The caller
   frees the module. */
struct ir_module *command_kernel_new(const struct fuser_node *command, const struct command_shape *shape);
