/* The loops over the work-items of a work-group. */
#pragma once

#include "fuser/cpu/jit/emit.h"

/* Runs these instructions for all work-items of the group at e->ids, linear id by linear id. */
void work_item_loop_run(struct emit *e, const struct ir_inst *first, const struct ir_inst *end);
