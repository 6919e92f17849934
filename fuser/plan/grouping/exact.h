/* The best groups of few kernels: fewest launches, then least memory traffic. */
#pragma once

#include "fuser/plan/grouping/grouping.h"
#include "fuser/plan/order/linearize.h"

/* False: there are too many kernels. */
bool exact_groups(const struct grouping *g, const struct plan_order *order, struct plan_choice *out);

/* Groups of many kernels become better where the best ones of a few neighbouring groups' kernels are. */
void exact_windows(const struct grouping *g, const struct plan_order *order, struct plan_choice *choice);
