/* Fusion legality: whether a kernel can run with those of a group. */
#pragma once

#include "fuser/plan/grouping/group_builder.h"
#include "fuser/plan/grouping/refusal.h"

/* Whether the kernel behind the group can join it; *with says how then, and the kernels are mapped to the range. r says
   why not. */
bool legality_joins(const struct grouping *g, const struct group_builder *b, struct joining *with, struct refusal *r);
