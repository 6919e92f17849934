/* Good groups of many kernels, filled one after another. */
#pragma once

#include "fuser/plan/grouping/grouping.h"
#include "fuser/plan/order/linearize.h"

void greedy_groups(const struct grouping *g, const struct plan_order *order, struct plan_choice *out);
