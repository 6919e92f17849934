/* Fusion legality: whether a kernel can run with those of a group. */
#pragma once

#include "fuser/plan/grouping/group_builder.h"
#include "fuser/plan/grouping/refusal.h"

/* Whether the kernel behind the group can join it; *joined is the range then, and the kernels are mapped to it. r says
   why not. */
bool legality_joins(const struct grouping *g, const struct group_builder *b, struct nd_range *joined,
                    struct refusal *r);
