/* Groups: runs of the linear order that become one launch each. */
#pragma once

#include "fuser/plan/grouping/choose.h"

/* The order becomes a better one, where there is one. */
bool groups_find(struct grouping *g, struct plan_order *order, struct plan_groups *out);
