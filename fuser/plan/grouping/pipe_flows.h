/* Kernels that are connected by pipes: can they be one? */
#pragma once

#include "fuser/plan/grouping/group_builder.h"
#include "fuser/plan/grouping/refusal.h"

/* The kernel behind the group uses a pipe that one of the group does. */
bool pipe_flows_connect(const struct grouping *g, const struct group_builder *b);
/* Packets of all such pipes go from one to the other without the pipe. */
bool pipe_flows_fit(const struct grouping *g, const struct group_builder *b, struct refusal *r);
