/*
 * Groups: runs of the linear order that become one launch each.
 *
 * This room takes facts, edges and the order. A group is built kernel by kernel (group_builder.h), each of which has to
 * be legal (legality.h) or is refused (refusal.h). Where that leaves several groups, better ones are looked for
 * (choose.h, exact.h, greedy.h, estimate.h). Uses mapping/ and access/.
 */
#pragma once

#include "fuser/plan/grouping/choose.h"

/* The order becomes a better one, where there is one. */
bool groups_find(struct grouping *g, struct plan_order *order, struct plan_groups *out);
