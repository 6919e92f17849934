/* Groups that wait until they can be part of a later one. */
#pragma once

#include "fuser/plan/grouping/grouping.h"
#include "fuser/plan/order/linearize.h"

/* A group filled as early as it could be joins the first group that needs something of it, where no command does and
   all of its kernels may. */
void later_groups(const struct grouping *g, struct plan_choice *choice);
