/* How often a loop is left or goes on. */
#include "fuser/cpu/prepare/loop_exits.h"

#include "ir/core/edit.h"
#include "ir/core/facts.h"

void loop_exits_add(struct loop_exits *x, const struct ir_inst *terminator)
{
    if (terminator->op == IR_OP_RETURN) x->returns++;
    if (terminator->op != IR_OP_BREAK && terminator->op != IR_OP_CONTINUE) return;
    if (ir_enclosing_loop(terminator) == x->loop) ++*(terminator->op == IR_OP_BREAK ? &x->breaks : &x->ways_back);
}

static void see_exit(struct ir_inst *inst, void *data)
{
    loop_exits_add(data, inst);
}

struct loop_exits loop_exits_of(const struct ir_inst *loop)
{
    struct loop_exits x = {.loop = loop};
    ir_walk(loop->blocks[0], see_exit, &x);
    return x;
}
