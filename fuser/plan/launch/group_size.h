/* The work-groups of a launch where nobody asked for a local size. */
#pragma once

#include "fuser/plan/launch/attempt.h"

/* Fills in the local size of the range, unless it has one: work-groups that are long in the dimension. */
void group_size_choose(const struct launching *l, const struct attempt *r, unsigned along, struct nd_range *range);
/* The dimension in which they should be long, once there is a kernel; 0: x, as they are. */
unsigned group_size_long_dimension(const struct launching *l, const struct attempt *r);
