/* Instructions that make addresses or use them, that ask where work-items are, and what is done by calls or in groups.
 */
#pragma once

#include "fuser/cpu/batch/values.h"

/* Each translates one instruction; false: it is of another kind. */
bool memory_translate(struct translation *t, const struct ir_inst *inst);
bool memory_translate_place(struct translation *t, const struct ir_inst *inst);
bool memory_translate_call(struct translation *t, const struct ir_inst *inst);
