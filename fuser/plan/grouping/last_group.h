/* Kernels of one work-group that run in the last one of a launch, which begins when all others have ended. */
#pragma once

#include "fuser/plan/grouping/group_builder.h"

/* Whether the kernel behind the group can be in a work-group that the launch has more: what it touches does not matter,
   as all that the others do is done. */
bool last_group_takes(const struct grouping *g, const struct group_builder *b);
void last_group_remark(const struct grouping *g, const struct group_builder *b);
