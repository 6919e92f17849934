/*
 * Along which dimension rows of work-items run. Lanes are neighbours in x. In work-groups that are one work-item wide,
 * as those of 1 x 256 that kernels with y along memory have, there would be one lane: so there x and the next dimension
 * that is longer change places, in the kernel's ids and sizes here and in those of the launch when it starts. The order
 * of work-items in a group stays the same.
 */
#include "fuser/cpu/prepare/row_dimension.h"

#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/passes/util.h"
#include "ir/core/facts.h"

struct exchange {
    unsigned with;
    bool prevented;
};

/* What tells work-items apart by more than ids and sizes. */
static void see_obstacle(struct ir_inst *inst, void *data)
{
    struct exchange *x = data;
    bool broadcasts = inst->op == IR_OP_GROUP_BROADCAST && ir_is_work_group_collective(inst);
    if (broadcasts || is_sub_group_operation(inst) || ir_op_class(inst->op) == IR_CLASS_PRINT) x->prevented = true;
}

static struct ir_value *query(struct ir_builder *b, enum ir_op op, unsigned dim)
{
    struct ir_value *v = ir_build0(b, op, IR_VOID);
    v->of.inst->attrs.dim = (uint8_t)dim;
    return v;
}

static struct ir_value *without_offset(struct ir_builder *b, unsigned dim)
{
    return ir_build2(b, IR_OP_SUB, IR_I64, query(b, IR_OP_GLOBAL_ID, dim), query(b, IR_OP_GLOBAL_OFFSET, dim));
}

/* The linear id in the ND-range, in which the order of dimensions counts, by its definition. */
static void take_apart(struct ir_inst *inst, void *data)
{
    (void)data;
    if (inst->op != IR_OP_GLOBAL_LINEAR_ID) return;
    struct ir_builder b = ir_builder_before(inst);
    struct ir_value *at = without_offset(&b, 2);
    for (unsigned dim = 2; dim-- > 0;) {
        at = ir_build2(&b, IR_OP_MUL, IR_I64, at, query(&b, IR_OP_GLOBAL_SIZE, dim));
        if (dim) at = ir_build2(&b, IR_OP_ADD, IR_I64, at, without_offset(&b, dim));
    }
    struct ir_value *parts[2] = {at, without_offset(&b, 0)};
    inst->op = IR_OP_ADD;
    inst->type = IR_I64;
    pass_operands_set(inst, parts, 2);
}

static bool has_dimension(enum ir_op op)
{
    switch (op) {
    case IR_OP_GLOBAL_ID:
    case IR_OP_LOCAL_ID:
    case IR_OP_GROUP_ID:
    case IR_OP_GLOBAL_SIZE:
    case IR_OP_LOCAL_SIZE:
    case IR_OP_ENQUEUED_LOCAL_SIZE:
    case IR_OP_NUM_GROUPS:
    case IR_OP_GLOBAL_OFFSET: return true;
    default: return false;
    }
}

static void exchange_dimension(struct ir_inst *inst, void *data)
{
    const struct exchange *x = data;
    if (!has_dimension(inst->op)) return;
    if (inst->attrs.dim == 0)
        inst->attrs.dim = (uint8_t)x->with;
    else if (inst->attrs.dim == x->with)
        inst->attrs.dim = 0;
}

unsigned row_dimension_choose(struct ir_function *kernel)
{
    uint32_t *size = kernel->work_group_size;
    struct exchange x = {.with = size[1] > 1 ? 1 : 2};
    if (size[0] != 1 || size[x.with] <= 1 || !uses_work_group_operations(kernel)) return 0;
    ir_walk(kernel->body, see_obstacle, &x);
    if (x.prevented) return 0;
    ir_walk(kernel->body, take_apart, NULL);
    ir_walk(kernel->body, exchange_dimension, &x);
    size[0] = size[x.with];
    size[x.with] = 1;
    return x.with;
}
