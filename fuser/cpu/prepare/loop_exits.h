/* How often a loop is left or goes on. */
#pragma once

#include "ir/core/ir.h"

struct loop_exits {
    const struct ir_inst *loop;
    unsigned ways_back, breaks, returns;
};

struct loop_exits loop_exits_of(const struct ir_inst *loop); /* all in its body */
void loop_exits_add(struct loop_exits *x, const struct ir_inst *terminator);
