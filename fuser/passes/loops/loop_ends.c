/*
 * A loop that tests at its end, as compilers leave it: `if c { continue x } ... break y` becomes
 * `if c { } else { ... break y } continue x`. So a round ends where the next one begins: who goes on is who did not
 * leave, and what is carried needs no place beside that of the round before.
 */
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

static bool is_just(const struct ir_block *block, enum ir_op op)
{
    return block->first->op == op;
}

/* The last if of the body, and which of its branches does nothing but go on with the next round; the other one nothing.
 */
static struct ir_inst *find_test(const struct ir_block *body, int *goes_on)
{
    struct ir_inst *inst = body->last;
    while (inst && inst->op != IR_OP_IF && inst->op != IR_OP_LOOP) inst = inst->prev;
    if (!inst || inst->op != IR_OP_IF || inst->n_results) return NULL;
    for (*goes_on = 0; *goes_on < 2; ++*goes_on)
        if (is_just(inst->blocks[*goes_on], IR_OP_CONTINUE) && is_just(inst->blocks[1 - *goes_on], IR_OP_YIELD))
            return inst;
    return NULL;
}

static bool end_with_next_round(struct ir_block *body)
{
    int goes_on;
    if (body->last->op != IR_OP_BREAK && body->last->op != IR_OP_RETURN) return false;
    struct ir_inst *test = find_test(body, &goes_on);
    if (!test) return false;
    struct ir_block *on = test->blocks[goes_on], *out = test->blocks[1 - goes_on];
    struct ir_inst *next_round = on->first, *nothing = out->first;
    pass_move_tail(nothing, on);
    pass_move_tail(test->next, out);
    pass_move_tail(next_round, body);
    pass_move_tail(nothing, on);
    return true;
}

static void see_loop(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_LOOP && end_with_next_round(inst->blocks[0])) *(bool *)data = true;
}

static bool run_loop_ends(struct ir_function *f)
{
    bool changed = false;
    ir_walk(f->body, see_loop, &changed);
    return changed;
}

const struct pass pass_loop_ends = {"loop_ends", "loops that test at their end go on there", run_loop_ends};
