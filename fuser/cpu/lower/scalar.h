/* Simple operations on one lane. */
#pragma once

#include "fuser/cpu/jit/emit.h"

/* from: kind of the first operand. */
rval scalar_op(struct emit *e, enum ir_op op, enum ir_kind kind, enum ir_kind from, rval *args);
