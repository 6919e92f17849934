/* Operations of a work-group and of a sub-group: which they are. */
#include "fuser/cpu/prepare/group_operation.h"

#include "fuser/cpu/target/target.h"
#include "ir/core/facts.h"

bool synchronizes_work_group(const struct ir_inst *inst)
{
    /* A scan's result depends on work-items before this one alone, which have been here. */
    bool is_scan = inst->op == IR_OP_GROUP_SCAN_INCL || inst->op == IR_OP_GROUP_SCAN_EXCL;
    return ir_is_work_group_collective(inst) && !is_scan;
}

bool is_sub_group_operation(const struct ir_inst *inst)
{
    return ir_is_sub_group_op(inst) || ir_op_class(inst->op) == IR_CLASS_SUB_GROUP_QUERY;
}

static void see_work_group_operation(struct ir_inst *inst, void *data)
{
    if (ir_is_work_group_collective(inst)) *(bool *)data = true;
}

bool uses_work_group_operations(const struct ir_function *kernel)
{
    bool found = false;
    ir_walk(kernel->body, see_work_group_operation, &found);
    return found;
}

static void see_sub_group_operation(struct ir_inst *inst, void *data)
{
    if (is_sub_group_operation(inst)) *(bool *)data = true;
}

bool uses_sub_groups(const struct ir_function *kernel)
{
    bool used = false;
    ir_walk(kernel->body, see_sub_group_operation, &used);
    return used;
}

static void see_local_param(struct ir_inst *inst, void *data)
{
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct ir_value *v = inst->operands[i];
        if (v->kind == IR_VALUE_PARAM && ir_type_is_ptr(v->type) && ir_type_space(v->type) == IR_SPACE_LOCAL)
            *(bool *)data = true;
    }
}

bool uses_local_params(const struct ir_function *kernel)
{
    bool used = false;
    ir_walk(kernel->body, see_local_param, &used);
    return used;
}

unsigned sub_group_size_of(const struct ir_function *kernel)
{
    uint32_t size = kernel->sub_group_size;
    return size && size != IR_SUB_GROUP_AUTOMATIC && size != IR_SUB_GROUP_PRIMARY ? size : CPU_PRIMARY_SUB_GROUP_SIZE;
}
