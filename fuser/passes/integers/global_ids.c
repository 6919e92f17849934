/*
 * The global id as kernels written for other languages compute it: of the work-groups before, and of the place in this
 * one. Where the size of work-groups is known, group * size + place is an id of the ND-range, and nobody need know of
 * work-groups.
 */
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

static const struct ir_inst *made_by(const struct ir_value *v, enum ir_op op)
{
    return v->kind == IR_VALUE_RESULT && v->of.inst->op == op ? v->of.inst : NULL;
}

/* An id, or its low bits. */
static bool is_id(const struct ir_value *v, enum ir_op op, unsigned dim)
{
    const struct ir_inst *narrow = made_by(v, IR_OP_ITRUNC);
    const struct ir_inst *id = made_by(narrow ? narrow->operands[0] : v, op);
    return id && id->attrs.dim == dim;
}

/* The work-items in the groups before this one: its id times their size. */
static bool is_start(const struct ir_value *v, unsigned dim, uint64_t size)
{
    uint64_t factor;
    const struct ir_inst *narrow = made_by(v, IR_OP_ITRUNC), *product;
    if (narrow) v = narrow->operands[0];
    if ((product = made_by(v, IR_OP_SHL)))
        return ir_value_uint(product->operands[1], &factor) && factor < 32 && 1ull << factor == size &&
               is_id(product->operands[0], IR_OP_GROUP_ID, dim);
    if (!(product = made_by(v, IR_OP_MUL))) return false;
    for (int k = 0; k < 2; k++)
        if (ir_value_uint(product->operands[k], &factor) && factor == size)
            return is_id(product->operands[1 - k], IR_OP_GROUP_ID, dim);
    return false;
}

static struct ir_value *query(struct ir_builder *b, enum ir_op op, unsigned dim, ir_type t)
{
    struct ir_value *v = ir_build0(b, op, IR_VOID);
    v->of.inst->attrs.dim = (uint8_t)dim;
    return t == IR_I64 ? v : ir_build1(b, IR_OP_ITRUNC, t, v);
}

static void see_sum(struct ir_inst *inst, bool *changed)
{
    const uint32_t *size = inst->parent->function->work_group_size;
    if (ir_type_lanes(inst->type) > 1) return;
    for (unsigned d = 0; d < 3; d++)
        for (int k = 0; k < 2; k++) {
            if (!is_id(inst->operands[k], IR_OP_LOCAL_ID, d) || !is_start(inst->operands[1 - k], d, size[d])) continue;
            struct ir_builder b = ir_builder_before(inst);
            struct ir_value *id[2] = {query(&b, IR_OP_GLOBAL_ID, d, inst->type),
                                      query(&b, IR_OP_GLOBAL_OFFSET, d, inst->type)};
            inst->op = IR_OP_SUB;
            pass_operands_set(inst, id, 2);
            *changed = true;
            return;
        }
}

static void see_inst(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_ADD) see_sum(inst, data);
    if (inst->op != IR_OP_ENQUEUED_LOCAL_SIZE) return;
    const struct ir_function *kernel = inst->parent->function;
    struct ir_value *size[2];
    size[0] = ir_const_int(kernel->module, IR_I64, kernel->work_group_size[inst->attrs.dim]);
    size[1] = ir_const_int(kernel->module, IR_I64, 0);
    inst->op = IR_OP_ADD; /* which folds */
    inst->type = IR_I64;
    inst->attrs.dim = 0;
    pass_operands_set(inst, size, 2);
    *(bool *)data = true;
}

static bool run_global_ids(struct ir_function *f)
{
    bool changed = false;
    if (f->linkage == IR_LINKAGE_KERNEL && f->work_group_size[0]) ir_walk(f->body, see_inst, &changed);
    return changed;
}

const struct pass pass_global_ids = {"global_ids", "ids of work-groups and in them that make up a global one",
                                     run_global_ids};
