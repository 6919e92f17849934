/* Operations whose result follows from their operands alone. */
#pragma once

#include "fuser/cpu/batch/values.h"

/* op on registers: kind is that of the result, from that of the first operand. */
batch_reg arithmetic_op(struct translation *t, unsigned op, enum ir_kind kind, enum ir_kind from,
                        enum ir_rounding rounding, unsigned n, const batch_reg *args);
/* Translates one instruction; false: it is of another kind. */
bool arithmetic_translate(struct translation *t, const struct ir_inst *inst);
