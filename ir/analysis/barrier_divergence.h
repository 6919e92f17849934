/* Work-items that provably miss each other: a barrier or group operation that some of a work-group come to and others
 * do not, whatever the arguments. What cannot be proved is left to the interpreter, which sees it happen. */
#pragma once

#include <stdbool.h>

#include "ir/core/ir.h"

/* A work-group of a kernel. */
struct ir_barrier_group {
    uint64_t size[3];
    bool placed; /* where it lies in which ND-range is known: */
    uint32_t dims;
    uint64_t id[3], local[3], global[3], offset[3]; /* local: of a complete group */
};

struct ir_barrier_divergence {
    const struct ir_inst *at; /* the operation */
    char text[256];           /* what is wrong with it: two work-items by local id, and where they diverge */
};

/* Looks at what all runs of the kernel by this group do. True: a finding. Changes the scratch of the kernel's values.
 */
bool ir_find_barrier_divergence(const struct ir_function *kernel, const struct ir_barrier_group *group,
                                struct ir_barrier_divergence *finding);
