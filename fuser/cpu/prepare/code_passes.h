/* The passes that code generation runs on its copy of a kernel, and no others: what it emits is what they leave. */
#pragma once

#include "fuser/passes/pass_manager.h"

extern const struct pass pass_address_spaces; /* casts of generic pointers that need not ask where an address lies */
extern const struct pass pass_barrier_uniformity; /* ifs round barriers that each work-group takes as one */

/* Before the kernel is checked; barrier_uniformity follows for what has passed. */
extern const struct pipeline pipeline_code;
