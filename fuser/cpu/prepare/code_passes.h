/* The passes that code generation runs on its copy of a kernel, and no others: what it emits is what they leave. */
#pragma once

#include "fuser/passes/manager/pass_manager.h"

extern const struct pass pass_address_spaces; /* casts of generic pointers that need not ask where an address lies */
extern const struct pass pass_group_rounds;   /* rounds that work-items have together are the group's */
extern const struct pass pass_barrier_uniformity; /* ifs around barriers whose condition may differ in a work-group */
extern const struct pass pass_even_steps; /* what loops of a work-group add for all work-items alike is the group's */
extern const struct pass pass_parallel_regions; /* what a work-item takes over a barrier goes to private variables */

extern const struct pipeline pipeline_code;    /* before the kernel is checked */
extern const struct pipeline pipeline_regions; /* then, of kernels with barriers */
