/*
 * Loops that store a number until it stays. Work-items that count in the same places without atomics put a mark of
 * their own into each number, and look whether theirs is there. Nobody waits for anybody in such a loop: without others
 * in between, what is loaded is what was just stored. So work-items may run it one after the other, though what it
 * accesses is volatile.
 */
#include "fuser/cpu/prepare/read_back.h"

#include "fuser/cpu/prepare/loop_test.h"
#include "ir/core/edit.h"
#include "ir/core/facts.h"

/* The store to a load's place that nothing but pure operations lies between; NULL: there is none. */
static const struct ir_inst *stored_just_before(const struct ir_inst *load)
{
    const struct ir_inst *i = load->prev;
    while (i && ir_op_info(i->op)->flags & IR_FLAG_PURE) i = i->prev;
    return i && i->op == IR_OP_STORE && ir_value_same(i->operands[0], load->operands[0]) ? i : NULL;
}

/* Whether `loaded` is the number that was just stored there, and `stored` that number. */
static bool is_pair(const struct ir_block *body, const struct ir_value *stored, const struct ir_value *loaded)
{
    if (loaded->kind != IR_VALUE_RESULT || loaded->of.inst->op != IR_OP_LOAD || loaded->of.inst->parent != body)
        return false;
    const struct ir_inst *store = stored_just_before(loaded->of.inst);
    return store && store->type == loaded->of.inst->type && ir_value_same(store->operands[1], stored);
}

bool loop_reads_back(const struct ir_inst *loop)
{
    struct loop_test t;
    if (loop->n_results || !loop_test_find((struct ir_inst *)loop, &t)) return false;
    const struct ir_value *condition = t.test->operands[0];
    if (condition->kind != IR_VALUE_RESULT) return false;
    const struct ir_inst *comparison = condition->of.inst;
    bool on_first = t.on->parent == t.test->blocks[0] || t.out->parent == t.test->blocks[1];
    if (comparison->op != (on_first ? IR_OP_INE : IR_OP_IEQ)) return false;
    struct ir_value *const *v = comparison->operands;
    return is_pair(loop->blocks[0], v[0], v[1]) || is_pair(loop->blocks[0], v[1], v[0]);
}

bool is_read_back(const struct ir_inst *inst)
{
    const struct ir_inst *loop = ir_enclosing_loop(inst);
    return loop && loop_reads_back(loop);
}

const struct ir_value *read_back_alone(const struct ir_inst *load)
{
    if (ir_type_space(load->operands[0]->type) != IR_SPACE_LOCAL || !is_read_back(load)) return NULL;
    const struct ir_inst *store = stored_just_before(load);
    return store && store->type == load->type ? store->operands[1] : NULL;
}
