/* Atomic operations. */
#include "ir/spirv/translate/instructions/atomic.h"

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/instructions/scope.h"
#include "ir/spirv/translate/values/values.h"

struct atomic {
    uint16_t spirv, op;
};

static const struct atomic updates[] = {
    {SpvOpAtomicExchange, IR_OP_ATOMIC_XCHG},  {SpvOpAtomicIIncrement, IR_OP_ATOMIC_ADD},
    {SpvOpAtomicIDecrement, IR_OP_ATOMIC_SUB}, {SpvOpAtomicIAdd, IR_OP_ATOMIC_ADD},
    {SpvOpAtomicISub, IR_OP_ATOMIC_SUB},       {SpvOpAtomicSMin, IR_OP_ATOMIC_SMIN},
    {SpvOpAtomicUMin, IR_OP_ATOMIC_UMIN},      {SpvOpAtomicSMax, IR_OP_ATOMIC_SMAX},
    {SpvOpAtomicUMax, IR_OP_ATOMIC_UMAX},      {SpvOpAtomicAnd, IR_OP_ATOMIC_AND},
    {SpvOpAtomicOr, IR_OP_ATOMIC_OR},          {SpvOpAtomicXor, IR_OP_ATOMIC_XOR},
    {SpvOpAtomicFAddEXT, IR_OP_ATOMIC_FADD},   {SpvOpAtomicFMinEXT, IR_OP_ATOMIC_FMIN},
    {SpvOpAtomicFMaxEXT, IR_OP_ATOMIC_FMAX},
};

static bool check_type(struct spirv_body *s, const struct spirv_inst *i, ir_type t)
{
    bool good = !ir_type_is_vector(t) && (ir_type_is_float(t) || (ir_type_is_int(t) && ir_type_bits(t) >= 32));
    if (!good) spirv_fail(s->r, i, "of a type other than i32, i64 and scalar floats");
    return good && !spirv_failed(s->r);
}

/* Translators give the atomics of OpenCL C 1.x, which are good for all work-items of the device, the scope of a
   work-group. Outside of local memory such an operation is taken for what the language says. */
static void set_attrs(struct spirv_body *s, struct ir_inst *inst, uint32_t scope, uint32_t semantics)
{
    bool local = ir_type_space(inst->operands[0]->type) == IR_SPACE_LOCAL;
    inst->attrs.scope = spirv_scope(s, scope);
    inst->attrs.order = spirv_order(s, semantics);
    if (!local && inst->attrs.scope == IR_SCOPE_WORK_GROUP && inst->attrs.order == IR_ORDER_RELAXED)
        inst->attrs.scope = IR_SCOPE_DEVICE;
}

static void emit_update(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op)
{
    ir_type t = spirv_result_type(s->r, i);
    struct ir_value *o[2] = {spirv_value(s, i, i->words[3])};
    o[1] = i->n > 6 ? spirv_value(s, i, i->words[6]) : spirv_int(s, t, 1);
    if (!check_type(s, i, t)) return;
    struct ir_inst *inst = ir_build(&s->b, op, t, o, 2);
    set_attrs(s, inst, i->words[4], i->words[5]);
    spirv_set(s, i, inst->results[0]);
}

static void emit_load(struct spirv_body *s, const struct spirv_inst *i)
{
    ir_type t = spirv_result_type(s->r, i);
    struct ir_value *p = spirv_value(s, i, i->words[3]);
    if (!check_type(s, i, t)) return;
    struct ir_inst *inst = ir_build(&s->b, IR_OP_ATOMIC_LOAD, t, &p, 1);
    set_attrs(s, inst, i->words[4], i->words[5]);
    if (inst->attrs.order == IR_ORDER_ACQ_REL) inst->attrs.order = IR_ORDER_ACQUIRE;
    if (inst->attrs.order == IR_ORDER_RELEASE) inst->attrs.order = IR_ORDER_RELAXED;
    spirv_set(s, i, inst->results[0]);
}

static void set_store_order(struct ir_inst *inst)
{
    if (inst->attrs.order == IR_ORDER_ACQ_REL) inst->attrs.order = IR_ORDER_RELEASE;
    if (inst->attrs.order == IR_ORDER_ACQUIRE) inst->attrs.order = IR_ORDER_RELAXED;
}

static void emit_store(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *o[2] = {spirv_value(s, i, i->words[1]), spirv_value(s, i, i->words[4])};
    if (!check_type(s, i, o[1]->type)) return;
    struct ir_inst *inst = ir_build(&s->b, IR_OP_ATOMIC_STORE, o[1]->type, o, 2);
    set_attrs(s, inst, i->words[2], i->words[3]);
    set_store_order(inst);
}

static void emit_compare(struct spirv_body *s, const struct spirv_inst *i)
{
    ir_type t = spirv_result_type(s->r, i);
    struct ir_value *o[3] = {spirv_value(s, i, i->words[3]), spirv_value(s, i, i->words[8]),
                             spirv_value(s, i, i->words[7])};
    if (!check_type(s, i, t)) return;
    struct ir_inst *inst = ir_build(&s->b, IR_OP_ATOMIC_CMPXCHG, t, o, 3);
    set_attrs(s, inst, i->words[4], i->words[5]);
    enum ir_order fail = spirv_order(s, i->words[6]);
    inst->attrs.order_fail = fail == IR_ORDER_ACQ_REL ? IR_ORDER_ACQUIRE : fail == IR_ORDER_RELEASE ? 0 : fail;
    spirv_set(s, i, inst->results[0]);
}

static void emit_flag(struct spirv_body *s, const struct spirv_inst *i)
{
    bool test = i->op == SpvOpAtomicFlagTestAndSet;
    uint32_t at = test ? 3 : 1;
    struct ir_value *p = spirv_value(s, i, i->words[at]);
    struct ir_inst *inst = ir_build(&s->b, test ? IR_OP_ATOMIC_TEST_SET : IR_OP_ATOMIC_CLEAR, IR_VOID, &p, 1);
    set_attrs(s, inst, i->words[at + 1], i->words[at + 2]);
    if (test) {
        spirv_set(s, i, inst->results[0]);
    } else {
        set_store_order(inst);
    }
}

bool spirv_emit_atomic(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpAtomicLoad: emit_load(s, i); return true;
    case SpvOpAtomicStore: emit_store(s, i); return true;
    case SpvOpAtomicCompareExchange:
    case SpvOpAtomicCompareExchangeWeak: emit_compare(s, i); return true;
    case SpvOpAtomicFlagTestAndSet:
    case SpvOpAtomicFlagClear: emit_flag(s, i); return true;
    default: break;
    }
    for (size_t k = 0; k < sizeof updates / sizeof *updates; k++) {
        if (updates[k].spirv != i->op) continue;
        emit_update(s, i, (enum ir_op)updates[k].op);
        return true;
    }
    return false;
}
