/* Work-groups as the lanes of vectors, for a kernel that is checked. */
#pragma once

#include "fuser/passes/pass.h"
#include "ir/core/assumptions.h"

/* A kernel that it changes runs for LANE_GROUPS work-groups that follow one another in x, and group ids are the first
   one's: local id x is the place among them, and the dimensions of a group are those behind it. */
extern const struct pass pass_group_lanes;

enum { LANE_GROUPS = IR_LANE_GROUPS };
