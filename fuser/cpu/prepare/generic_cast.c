/*
 * Casts from generic pointers to a named address space. The result is null where the address lies in another space,
 * which costs a comparison; but a cast that only serves to load and store is the address as it is.
 */
#include "fuser/cpu/prepare/generic_cast.h"

#include "fuser/cpu/prepare/code_passes.h"

bool generic_cast_may_be_null(const struct ir_inst *inst)
{
    return inst->op == IR_OP_SPACECAST && inst->attrs.space != IR_SPACE_GENERIC;
}

struct cast_use {
    const struct ir_value *pointer;
    bool asked; /* the pointer is used for more than what lies there */
};

static bool only_reached(struct ir_block *body, const struct ir_value *pointer);

static void see_use(struct ir_inst *inst, void *data)
{
    struct cast_use *use = data;
    bool reaches = inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE || inst->op == IR_OP_COPY ||
                   inst->op == IR_OP_PREFETCH || ir_op_class(inst->op) == IR_CLASS_ATOMIC;
    for (uint32_t i = 0; i < inst->n_operands && !use->asked; i++) {
        if (inst->operands[i] != use->pointer) continue;
        if (inst->op == IR_OP_ELEM || inst->op == IR_OP_FIELD)
            use->asked = !only_reached(inst->parent->function->body, inst->results[0]);
        else
            use->asked = !reaches || (i > 0 && inst->op != IR_OP_COPY); /* itself stored */
    }
}

static bool only_reached(struct ir_block *body, const struct ir_value *pointer)
{
    struct cast_use use = {.pointer = pointer};
    ir_walk(body, see_use, &use);
    return !use.asked;
}

static void drop_question(struct ir_inst *inst, void *data)
{
    bool *changed = data;
    if (!generic_cast_may_be_null(inst) || !only_reached(inst->parent->function->body, inst->results[0])) return;
    struct ir_builder b = ir_builder_before(inst);
    inst->operands[0] = ir_build1(&b, IR_OP_PTRTOINT, IR_I64, inst->operands[0]);
    inst->op = IR_OP_INTTOPTR;
    *changed = true;
}

static bool run_address_spaces(struct ir_function *kernel)
{
    bool changed = false;
    ir_walk(kernel->body, drop_question, &changed);
    return changed;
}

const struct pass pass_address_spaces = {"address_spaces", "casts that need not ask where an address lies",
                                         run_address_spaces};
