/* The loop over work-groups. */
#pragma once

#include "fuser/cpu/jit/emit.h"

/* Runs the kernel for the work-groups first <= g < end. */
void work_group_loop_run(struct emit *e, rval first, rval end);
