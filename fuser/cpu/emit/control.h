/* Blocks, ifs and loops. */
#pragma once

#include "fuser/cpu/emit/value.h"

struct control_frame;

struct control {
    gcc_jit_block *leave; /* where a work-item's end leads */
    gcc_jit_block *skip;  /* where it leads when some others that run afterwards do nothing either; NULL: nowhere */
    struct known known;
    bool empty;                /* no lane runs here, known while emitting */
    const struct ir_inst *end; /* where the instructions that are being emitted end; NULL: with their block */
    struct control_frame *frame;
};

void emit_insts(struct emit *e, const struct ir_inst *first, const struct ir_inst *end); /* end NULL: to the block's */
void emit_reset(struct emit *e); /* forgets the values, before instructions are emitted once more */
