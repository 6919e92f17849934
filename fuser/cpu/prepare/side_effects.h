/* What may run though no lane is active. */
#pragma once

#include <stdbool.h>

#include "ir/core/ir.h"

/* Whether the instructions from one up to another (NULL: to the block's end) have no side effects, and cost so much at
   most. */
bool side_effects_none(const struct ir_inst *from, const struct ir_inst *end, unsigned most);
/* Whether those before `end` (NULL: to the block's end) may be done once more: they are no loops, and change nothing.
 */
bool side_effects_none_but_loads(const struct ir_inst *from, const struct ir_inst *end);
