/* What a launch would move over memory, before it is made. */
#pragma once

#include "fuser/plan/grouping/grouping.h"

struct traffic_estimate;

struct traffic_estimate *estimate_new(const struct grouping *g); /* in the arena of planning */
/* Of the kernels in this order, in bytes. */
uint64_t estimate_launch(const struct grouping *g, struct traffic_estimate *e, struct node_run run);
