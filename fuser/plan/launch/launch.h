/*
 * Launches: for each group its kernel, its parameters, and where its buffers live.
 *
 * This room takes the groups and writes launches, steps and bytes into the plan. Where a kernel cannot be made, buffers
 * go back to memory, then the group is cut. Uses storage/, merge/ and passes/.
 */
#pragma once

#include "fuser/plan/launch/launching.h"

/* Groups are runs of the order. */
bool launches_make(struct launching *l, const struct plan_groups *groups);
