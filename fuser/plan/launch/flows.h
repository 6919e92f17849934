/* Pipes of a launch whose packets go from one of its kernels to another without them. */
#pragma once

#include "fuser/plan/launch/attempt.h"

/* Says so in the parameters of the run, which is mapped to its range. */
void flows_find(struct launching *l, struct attempt *r);
void flows_remark(struct launching *l, const struct attempt *r);
