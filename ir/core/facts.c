/* Facts of instructions that several analyses ask for. */
#include "ir/core/facts.h"

bool ir_is_work_group_collective(const struct ir_inst *inst)
{
    return ir_op_class(inst->op) == IR_CLASS_COLLECTIVE && inst->attrs.scope != IR_SCOPE_WORK_ITEM &&
           inst->attrs.scope != IR_SCOPE_SUB_GROUP;
}

bool ir_is_sub_group_op(const struct ir_inst *inst)
{
    enum ir_op_class class = ir_op_class(inst->op);
    if (class == IR_CLASS_COLLECTIVE) return inst->attrs.scope == IR_SCOPE_SUB_GROUP;
    return class == IR_CLASS_SUB_GROUP || class == IR_CLASS_BLOCK;
}

bool ir_sees_sub_group(const struct ir_inst *inst)
{
    return ir_op_class(inst->op) == IR_CLASS_SUB_GROUP_QUERY || ir_is_sub_group_op(inst);
}

bool ir_is_convergent(const struct ir_inst *inst)
{
    if (!(ir_op_info(inst->op)->flags & IR_FLAG_CONVERGENT) || inst->op == IR_OP_CALL) return false;
    return inst->op != IR_OP_BARRIER || inst->attrs.scope != IR_SCOPE_WORK_ITEM;
}

bool ir_is_collective(const struct ir_inst *inst)
{
    return ir_is_convergent(inst) && ir_op_class(inst->op) != IR_CLASS_SUB_GROUP;
}

struct ir_inst *ir_enclosing_loop(const struct ir_inst *inst)
{
    struct ir_inst *around = inst->parent->parent;
    while (around && around->op != IR_OP_LOOP) around = around->parent->parent;
    return around;
}

struct ir_inst *ir_terminator_target(const struct ir_inst *terminator)
{
    return terminator->op == IR_OP_YIELD ? terminator->parent->parent : ir_enclosing_loop(terminator);
}
