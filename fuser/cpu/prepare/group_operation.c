/* Operations of a work-group and of a sub-group: which they are. */
#include "fuser/cpu/prepare/group_operation.h"

#include "fuser/cpu/target/target.h"

bool is_work_group_operation(const struct ir_inst *inst)
{
    return inst->op >= IR_OP_BARRIER && inst->op <= IR_OP_GROUP_SCAN_EXCL && inst->attrs.scope != IR_SCOPE_WORK_ITEM &&
           inst->attrs.scope != IR_SCOPE_SUB_GROUP;
}

bool synchronizes_work_group(const struct ir_inst *inst)
{
    /* A scan's result depends on work-items before this one alone, which have been here. */
    return is_work_group_operation(inst) && inst->op <= IR_OP_GROUP_REDUCE;
}

bool is_sub_group_operation(const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_SUB_GROUP_SIZE ... IR_OP_SUB_GROUP_LOCAL_ID:
    case IR_OP_SUB_GROUP_ELECT ... IR_OP_IMAGE_BLOCK_WRITE: return true;
    case IR_OP_BARRIER ... IR_OP_GROUP_SCAN_EXCL: return inst->attrs.scope == IR_SCOPE_SUB_GROUP;
    default: return false;
    }
}

static void see_work_group_operation(struct ir_inst *inst, void *data)
{
    if (is_work_group_operation(inst)) *(bool *)data = true;
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

unsigned sub_group_size_of(const struct ir_function *kernel)
{
    uint32_t size = kernel->sub_group_size;
    return size && size != IR_SUB_GROUP_AUTOMATIC && size != IR_SUB_GROUP_PRIMARY ? size : CPU_PRIMARY_SUB_GROUP_SIZE;
}
