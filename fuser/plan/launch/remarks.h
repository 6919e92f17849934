/* What is said of a launch that was made. */
#pragma once

#include "fuser/plan/launch/attempt.h"

/* Which kernels it is, and where its buffers live, which the plan keeps. */
void launch_remark_run(struct launching *l, const struct attempt *r);
void launch_remark_conditions(struct launching *l, const struct attempt *r);
