/* Work-group barriers that nobody asked for: whether they may stand, and whether they are worth it. */
#pragma once

#include "fuser/plan/grouping/group_builder.h"

/* Between kernels whose dependence stays inside of work-groups. */
bool barriers_may_be_put(const struct fuser_options *o);
/* Whether one before the kernel behind the group costs less than a launch. */
bool barriers_pay(const struct grouping *g, const struct group_builder *b, const struct nd_range *range);
/* The longest row of a work-group. */
uint64_t barriers_row(const struct nd_range *range);
