/*
 * Linear ids as what they are made of. Where dimensions change places, or several work-items run as one, an id by
 * dimension is given anew; a linear one would still count the work-items that there were.
 */
#include "fuser/cpu/rows/linear_ids.h"

#include "fuser/passes/util.h"
#include "ir/core/builder.h"
#include "ir/core/facts.h"

static struct ir_value *without_offset(struct ir_builder *b, unsigned dim)
{
    struct ir_value *id = ir_build_id(b, IR_OP_GLOBAL_ID, dim);
    return ir_build2(b, IR_OP_SUB, IR_I64, id, ir_build_id(b, IR_OP_GLOBAL_OFFSET, dim));
}

static struct ir_value *local_place(struct ir_builder *b, unsigned dim)
{
    return ir_build_id(b, IR_OP_LOCAL_ID, dim);
}

/* A place by dimensions as one number, by its definition. */
static void make_linear(struct ir_inst *inst, enum ir_op size, struct ir_value *(*place)(struct ir_builder *, unsigned))
{
    struct ir_builder b = ir_builder_before(inst);
    struct ir_value *at = place(&b, 2);
    for (unsigned dim = 2; dim-- > 0;) {
        at = ir_build2(&b, IR_OP_MUL, IR_I64, at, ir_build_id(&b, size, dim));
        if (dim) at = ir_build2(&b, IR_OP_ADD, IR_I64, at, place(&b, dim));
    }
    struct ir_value *parts[2] = {at, place(&b, 0)};
    inst->op = IR_OP_ADD;
    inst->type = IR_I64;
    pass_operands_set(inst, parts, 2);
}

bool linear_id_take_apart(struct ir_inst *inst, bool local)
{
    bool global = inst->op == IR_OP_GLOBAL_LINEAR_ID;
    if (!global && !(local && inst->op == IR_OP_LOCAL_LINEAR_ID)) return false;
    if (global)
        make_linear(inst, IR_OP_GLOBAL_SIZE, without_offset);
    else
        make_linear(inst, IR_OP_LOCAL_SIZE, local_place);
    return true;
}

static void take_apart(struct ir_inst *inst, void *data)
{
    if (linear_id_take_apart(inst, true)) *(bool *)data = true;
}

bool linear_ids_take_apart(struct ir_function *kernel)
{
    bool some = false;
    ir_walk(kernel->body, take_apart, &some);
    return some;
}
