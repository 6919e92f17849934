/* How often a loop is left or goes on, and the test of one that has but one. */
#include "fuser/cpu/prepare/loop_test.h"

#include "fuser/passes/util.h"
#include "ir/core/edit.h"
#include "ir/core/facts.h"

/* ---- how often ---- */

void loop_exits_add(struct loop_exits *x, const struct ir_inst *terminator)
{
    if (terminator->op == IR_OP_RETURN) x->returns++;
    if (terminator->op != IR_OP_BREAK && terminator->op != IR_OP_CONTINUE) return;
    if (ir_enclosing_loop(terminator) == x->loop) ++*(terminator->op == IR_OP_BREAK ? &x->breaks : &x->ways_back);
}

static void add_exit(struct ir_inst *inst, void *data)
{
    loop_exits_add(data, inst);
}

struct loop_exits loop_exits_of(const struct ir_inst *loop)
{
    struct loop_exits x = {.loop = loop};
    ir_walk(loop->blocks[0], add_exit, &x);
    return x;
}

/* ---- where it is ---- */

struct exits {
    struct ir_inst *on, *out;
    unsigned n;
};

static void see_exit(struct ir_inst *inst, void *data)
{
    struct exits *x = data;
    x->n++;
    if (inst->op == IR_OP_CONTINUE) x->on = inst;
    if (inst->op == IR_OP_BREAK) x->out = inst;
}

static void see_effect(struct ir_inst *inst, void *data)
{
    bool harmless = (ir_op_info(inst->op)->flags & IR_FLAG_PURE) || ir_op_class(inst->op) == IR_CLASS_ND_RANGE;
    if (!harmless) *(bool *)data = true;
}

static bool nothing_before(const struct ir_inst *test)
{
    bool effect = false;
    for (const struct ir_inst *i = test->parent->first; i != test; i = i->next) {
        if (i->blocks[0]) return false;
        see_effect((struct ir_inst *)i, &effect);
    }
    return !effect;
}

static bool just_yields(const struct ir_block *block)
{
    return block->first->op == IR_OP_YIELD && !block->first->n_operands;
}

bool loop_test_find(struct ir_inst *loop, struct loop_test *found)
{
    struct ir_block *body = loop->blocks[0];
    struct exits x = {0};
    pass_walk_exits(body, see_exit, &x);
    if (x.n != 2 || !x.on || !x.out) return false;
    bool out_at_end = x.out->parent == body;
    const struct ir_inst *inner = out_at_end ? x.on : x.out;
    struct ir_inst *test = inner->parent->parent;
    if ((out_at_end ? x.out : x.on)->parent != body || test->parent != body || test->op != IR_OP_IF) return false;
    if (test->n_results || !just_yields(test->blocks[test->blocks[0] == inner->parent])) return false;
    bool alone = inner->parent->first == inner, ends = test->next == body->last;
    *found = (struct loop_test){.loop = loop, .test = test, .on = x.on, .out = x.out, .tests_first = !(alone && ends)};
    if (!found->tests_first) return true;
    return (out_at_end ? ends : alone) && nothing_before(test);
}

/* ---- what is compared ---- */

bool less_of_if(const struct ir_inst *inst, bool contrary, struct less *less)
{
    const struct ir_value *v = inst->operands[0];
    if (v->kind != IR_VALUE_RESULT || v->of.inst->n_operands != 2) return false;
    enum ir_op op = v->of.inst->op;
    bool greater, equal;
    switch (op) {
    case IR_OP_SLT:
    case IR_OP_ULT: greater = false, equal = false; break;
    case IR_OP_SLE:
    case IR_OP_ULE: greater = false, equal = true; break;
    case IR_OP_SGT:
    case IR_OP_UGT: greater = true, equal = false; break;
    case IR_OP_SGE:
    case IR_OP_UGE: greater = true, equal = true; break;
    default: return false;
    }
    if (contrary) {
        greater = !greater;
        equal = !equal;
    }
    struct ir_value *const *operands = v->of.inst->operands;
    *less =
        (struct less){operands[greater], operands[!greater], (ir_op_info(op)->flags & IR_FLAG_UNSIGNED) != 0, equal};
    return true;
}

bool less_of_loop(const struct loop_test *t, struct less *less)
{
    bool stays_where = t->on->parent == t->test->blocks[0] || t->out->parent == t->test->blocks[1];
    return less_of_if(t->test, !stays_where, less);
}
