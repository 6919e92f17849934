/*
 * What a comparison says about all lanes at once. Where one side grows evenly from lane to lane and the other is the
 * same for all, as in `local_id < n`, its first and last lane decide: no masks are needed unless they differ.
 */
#include "fuser/cpu/emit/lane_test.h"

#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"

/* The comparison with its sides swapped; IR_OP_COUNT: none of those that order. */
static enum ir_op mirrored(enum ir_op op)
{
    switch (op) {
    case IR_OP_SLT: return IR_OP_SGT;
    case IR_OP_SLE: return IR_OP_SGE;
    case IR_OP_SGT: return IR_OP_SLT;
    case IR_OP_SGE: return IR_OP_SLE;
    case IR_OP_ULT: return IR_OP_UGT;
    case IR_OP_ULE: return IR_OP_UGE;
    case IR_OP_UGT: return IR_OP_ULT;
    case IR_OP_UGE: return IR_OP_ULE;
    default: return IR_OP_COUNT;
    }
}

static bool is_less(enum ir_op op)
{
    return op == IR_OP_SLT || op == IR_OP_SLE || op == IR_OP_ULT || op == IR_OP_ULE;
}

static bool is_linear(const struct lanes *v)
{
    return v->shape == SHAPE_LINEAR && !v->guard && v->kind >= IR_KIND_I32 && v->kind <= IR_KIND_I64;
}

/* Whether it grows from one vector of a row to the next as it does from lane to lane: a local id, or one converted to
   another width, which work-groups are too small to overflow. */
static bool grows_along_row(const struct ir_value *v)
{
    while (v->kind == IR_VALUE_RESULT &&
           (v->of.inst->op == IR_OP_ITRUNC || v->of.inst->op == IR_OP_SEXT || v->of.inst->op == IR_OP_ZEXT))
        v = v->of.inst->operands[0];
    return v->kind == IR_VALUE_RESULT && v->of.inst->op == IR_OP_LOCAL_ID && v->of.inst->attrs.dim == 0;
}

/* Whether it is the same for all vectors of work-items of the group. */
static bool stays(const struct emit *e, const struct ir_value *v)
{
    return v->kind <= IR_VALUE_PARAM ||
           (e->values->shared[v->scratch] && e->values->lanes[v->scratch] == e->values->shared[v->scratch]);
}

static rval both(struct emit *e, rval a, rval b)
{
    return jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, a, b);
}

bool lane_test(struct emit *e, const struct ir_value *condition, struct lane_test *t)
{
    if (condition->kind != IR_VALUE_RESULT || mirrored(condition->of.inst->op) == IR_OP_COUNT) return false;
    const struct ir_inst *inst = condition->of.inst;
    enum ir_op op = inst->op;
    const struct ir_value *grows = inst->operands[0], *fixed = inst->operands[1];
    struct lanes a = *emit_value(e, grows), b = *emit_value(e, fixed);
    if (a.shape == SHAPE_UNIFORM) {
        struct lanes swapped = a;
        a = b;
        b = swapped;
        grows = inst->operands[1];
        fixed = inst->operands[0];
        op = mirrored(op);
    }
    if (!is_linear(&a) || b.shape != SHAPE_UNIFORM) return false;
    struct lanes first = lanes_uniform(a.kind, a.scalar);
    struct lanes last = op2(e, IR_OP_ADD, a.kind, first, lanes_int(e, a.kind, (uint64_t)a.stride * (e->width - 1)));
    bool is_unsigned = ir_op_info(op)->flags & IR_FLAG_UNSIGNED;
    enum ir_op less = is_unsigned ? IR_OP_ULE : IR_OP_SLE;
    struct lanes at_first = op2(e, op, IR_KIND_BOOL, first, b), at_last = op2(e, op, IR_KIND_BOOL, last, b);
    struct lanes even =
        a.stride > 0 ? op2(e, less, IR_KIND_BOOL, first, last) : op2(e, less, IR_KIND_BOOL, last, first);
    t->all = jit_read(jit_keep(e, both(e, even.scalar, both(e, at_first.scalar, at_last.scalar))));
    t->none =
        jit_read(jit_keep(e, both(e, even.scalar, both(e, jit_not(e, at_first.scalar), jit_not(e, at_last.scalar)))));
    t->ends_row = a.stride > 0 && is_less(op) && grows_along_row(grows) && stays(e, fixed);
    return true;
}
