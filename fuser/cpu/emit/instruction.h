/* One instruction other than control flow: hands it to the unit that emits it. */
#pragma once

#include "fuser/cpu/jit/emit.h"

void emit_instruction(struct emit *e, const struct ir_inst *inst);
