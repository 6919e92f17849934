/* Copies of instructions, in which values are what the copy makes of them. */
#pragma once

#include "ir/core/ir.h"

struct pass_copy {
    struct ir_value **to; /* by number (pass_number()): what a value is in the copy; NULL: itself */
};

/* What the operands of an instruction are in the copy. */
struct ir_value **pass_copy_operands(const struct pass_copy *c, const struct ir_inst *inst);
/* The instruction with these operands; its blocks are empty. */
struct ir_inst *pass_copy_one(struct ir_builder *b, const struct ir_inst *inst, struct ir_value **operands);
/* Copies from first on up to `end`, or the end of the block, with all that is inside; values that they make are those
   of the copy from then on. */
void pass_copy_insts(struct pass_copy *c, struct ir_builder *b, const struct ir_inst *first, const struct ir_inst *end);
