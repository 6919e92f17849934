/* The local size of a launch where nobody asked for one. */
#pragma once

#include "fuser/graph/graph.h"

/* along: the dimension in which work-groups are long. */
void local_size_choose(struct nd_range *range, const struct fuser_device *device, const struct ir_function *kernel,
                       unsigned along);
