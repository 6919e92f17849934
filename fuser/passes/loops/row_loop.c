/* Which loops go over rows. */
#include "fuser/passes/loops/row_loop.h"

#include "fuser/passes/util.h"
#include "ir/core/facts.h"

enum { LARGEST_NUMBER = 1 << 20, LEAST_BITS = 32 };

static const struct ir_inst *made_by(const struct ir_value *v, enum ir_op op)
{
    return v->kind == IR_VALUE_RESULT && v->of.inst->op == op ? v->of.inst : NULL;
}

static bool is_conversion(const struct ir_value *v)
{
    bool converts = made_by(v, IR_OP_SEXT) || made_by(v, IR_OP_ZEXT) || made_by(v, IR_OP_ITRUNC);
    return converts && ir_type_bits(v->type) >= LEAST_BITS && ir_type_bits(v->of.inst->operands[0]->type) >= LEAST_BITS;
}

static struct ir_value *unconverted(struct ir_value *v)
{
    while (is_conversion(v)) v = v->of.inst->operands[0];
    return v;
}

/* A sum of a value and a number; *number is 0 if there is none. NULL: another sum. */
static struct ir_value *without_number(struct ir_value *v, uint64_t *number)
{
    const struct ir_inst *sum = made_by(v, IR_OP_ADD);
    *number = 0;
    if (!sum) return v;
    return ir_value_uint(sum->operands[1], number) && *number <= LARGEST_NUMBER ? sum->operands[0] : NULL;
}

/* It begins at the local id, or so far behind it. */
static bool begins_at_item(struct ir_value *first)
{
    uint64_t number;
    struct ir_value *id = without_number(unconverted(first), &number);
    const struct ir_inst *inst = id ? made_by(unconverted(id), IR_OP_LOCAL_ID) : NULL;
    return inst && inst->attrs.dim == 0;
}

static bool is_order(enum ir_op op)
{
    return op == IR_OP_SLT || op == IR_OP_SLE || op == IR_OP_SGT || op == IR_OP_SGE || op == IR_OP_ULT ||
           op == IR_OP_ULE || op == IR_OP_UGT || op == IR_OP_UGE;
}

/* What is compared is the counter, or what it is next. */
static bool is_counter(struct ir_value *v, const struct ir_inst *next, uint64_t *step)
{
    const struct ir_inst *loop = ir_enclosing_loop(next);
    uint64_t number;
    v = without_number(unconverted(v), &number);
    if (!v || v->kind != IR_VALUE_BLOCK_ARG || v->of.block != loop->blocks[0] || ir_type_bits(v->type) < LEAST_BITS)
        return false;
    return without_number(next->operands[v->index], step) == v && *step && begins_at_item(loop->operands[v->index]);
}

bool row_loop_read(const struct ir_inst *test, const struct ir_inst *next, struct row_loop *row)
{
    const struct ir_value *condition = test->operands[0];
    if (condition->kind != IR_VALUE_RESULT || !is_order(condition->of.inst->op)) return false;
    row->compared = condition->of.inst;
    row->end = unconverted(row->compared->operands[1]);
    return is_counter(row->compared->operands[0], next, &row->step);
}

static void see_barrier(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_BARRIER || ir_is_work_group_collective(inst)) *(bool *)data = true;
}

bool row_loops_meet(const struct ir_function *f)
{
    bool found = false;
    ir_walk(f->body, see_barrier, &found);
    return found;
}
