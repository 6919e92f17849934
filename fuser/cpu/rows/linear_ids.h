/* Linear ids as what they are made of. */
#pragma once

#include <stdbool.h>

#include "ir/core/ir.h"

/* If `inst` is a linear id in the range, or one in the work-group and `local` says so, it becomes a sum of ids and
   sizes by dimension: returns whether it did. */
bool linear_id_take_apart(struct ir_inst *inst, bool local);
/* All of them: whether there were any. */
bool linear_ids_take_apart(struct ir_function *kernel);
