/* Kernels whose last work-group does something else than all others: two kernels, for which there is code of its own.
 */
#pragma once

#include "ir/core/ir.h"

enum group_side {
    GROUP_ALL,    /* of a kernel without such a work-group */
    GROUP_OTHERS, /* all but the last one */
    GROUP_LAST
};

/* The kernel for one side, in a module of its own: what is asked about which work-group it is, is known, and what only
   the other side does is gone. */
struct ir_function *last_group_take(const struct ir_function *kernel, enum group_side side);
