/* Kernels of which one has far more work-items than the other. */
#pragma once

#include "fuser/plan/grouping/group_builder.h"

/* Of each kernel the work of those that could share a launch with it at any rate: of its ND-range, at its depth. To be
   called before others ask. */
void unlike_prepare(struct grouping *g, const struct plan_order *order);
/* Whether the kernel behind the group gains more by sharing the launch than by one of its own. joined: the range of
 * all. */
bool unlike_ranges_pay(const struct grouping *g, const struct group_builder *b, const struct nd_range *joined);
