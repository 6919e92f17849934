/* Operations of compiled code, of which a core does those of several work-items at once. Both branches of an if count,
   and what loops do in each round. */
#include "fuser/cost/cost.h"

enum { MOST = 1 << 30 };

static bool is_constant(const struct ir_value *v)
{
    return v->kind == IR_VALUE_CONST && ir_type_is_int(v->type) && !ir_type_is_vector(v->type);
}

/* ---- operations ---- */

/* A load at a place that is no sum of ids: work-items side by side have theirs one by one. */
enum { GATHER = 12 };

/* In additions. */
static uint64_t work_of_operation(const struct ir_inst *inst)
{
    if (inst->scratch) return GATHER;
    switch (inst->op) {
    case IR_OP_MAD:
    case IR_OP_FMA: return 1;
    case IR_OP_FDIV:
    case IR_OP_SQRT:
    case IR_OP_RSQRT: return 8;
    case IR_OP_UDIV:
    case IR_OP_SDIV:
    case IR_OP_UREM:
    case IR_OP_SREM: return 20;
    case IR_OP_POW:
    case IR_OP_POWN:
    case IR_OP_POWR:
    case IR_OP_ROOTN:
    case IR_OP_LGAMMA:
    case IR_OP_TGAMMA: return 60;
    default: break;
    }
    switch (ir_op_class(inst->op)) {
    case IR_CLASS_MATH: return 25;
    case IR_CLASS_IMAGE: return 60;
    case IR_CLASS_CONTROL:
    case IR_CLASS_ND_RANGE: return 0;
    default: return 1;
    }
}

/* The same in each work-item of a launch: what is made of constants and its sizes. */
static bool is_of_launch(const struct ir_value *v)
{
    if (is_constant(v)) return true;
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    if (!inst) return false;
    if (inst->op == IR_OP_NUM_GROUPS) return true;
    return (inst->op == IR_OP_ADD || inst->op == IR_OP_SUB) && is_of_launch(inst->operands[0]) &&
           is_of_launch(inst->operands[1]);
}

static bool is_group_id(const struct ir_value *v)
{
    return v->kind == IR_VALUE_RESULT && v->of.inst->op == IR_OP_GROUP_ID;
}

/* A work-group's number is a certain one. */
static bool is_one_group(const struct ir_value *v)
{
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    if (!inst || (inst->op != IR_OP_IEQ && inst->op != IR_OP_AND)) return false;
    const struct ir_value *a = inst->operands[0], *b = inst->operands[1];
    if (inst->op == IR_OP_AND) return is_one_group(a) || is_one_group(b);
    return (is_group_id(a) && is_of_launch(b)) || (is_group_id(b) && is_of_launch(a));
}

bool cost_is_of_one_group(const struct ir_inst *branch)
{
    return branch->op == IR_OP_IF && is_one_group(branch->operands[0]);
}

uint64_t cost_of_block(const struct ir_block *block)
{
    uint64_t work = 0;
    for (const struct ir_inst *inst = block->first; inst && work < MOST; inst = inst->next) {
        work += work_of_operation(inst) * ir_type_lanes(inst->type);
        for (int b = cost_is_of_one_group(inst); b < 2; b++)
            if (inst->blocks[b])
                work += cost_of_block(inst->blocks[b]) * (inst->op == IR_OP_LOOP ? cost_rounds(inst) : 1);
    }
    return work < MOST ? work : MOST;
}
