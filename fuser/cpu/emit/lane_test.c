/*
 * What a condition says about all lanes at once. Where one side of a comparison grows evenly from lane to lane and the
 * other is the same for all, as in `j < n`, its first and last lane decide: no masks are needed unless they differ.
 */
#include "fuser/cpu/emit/lane_test.h"

#include "fuser/cpu/emit/instruction.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/cpu/simd/op.h"

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

/* An operand of logic or of a comparison: the same for all lanes, or growing so that at most one lane wraps. */
static bool is_uniform(const struct emit *e, const struct ir_value *v)
{
    return v->kind < IR_VALUE_PARAM || value_shape(e, v).kind == SHAPE_UNIFORM;
}

static bool is_linear(const struct emit *e, const struct ir_value *v)
{
    enum ir_kind kind = ir_type_kind(v->type);
    if (v->kind < IR_VALUE_PARAM || ir_type_lanes(v->type) > 1 || kind < IR_KIND_I32 || kind > IR_KIND_I64)
        return false;
    struct shape s = value_shape(e, v);
    return s.kind == SHAPE_LINEAR && !s.wraps && s.stride < INT32_MAX / MAX_WIDTH && s.stride > -INT32_MAX / MAX_WIDTH;
}

/* Logic of two conditions. */
enum logic { NO_LOGIC, BOTH, EITHER };

static enum logic logic_of(const struct ir_inst *inst, const struct ir_value *parts[2])
{
    if (inst->type != IR_BOOL) return NO_LOGIC;
    parts[0] = inst->operands[0];
    parts[1] = inst->n_operands > 1 ? inst->operands[1] : NULL;
    switch (inst->op) {
    case IR_OP_AND: return BOTH;
    case IR_OP_OR: return EITHER;
    default: return NO_LOGIC;
    }
}

bool lane_test_applies(const struct emit *e, const struct ir_value *condition)
{
    if (is_uniform(e, condition)) return true;
    if (condition->kind != IR_VALUE_RESULT) return false;
    const struct ir_inst *inst = condition->of.inst;
    const struct ir_value *parts[2];
    if (inst->op == IR_OP_NOT) return lane_test_applies(e, inst->operands[0]);
    if (logic_of(inst, parts)) return lane_test_applies(e, parts[0]) && lane_test_applies(e, parts[1]);
    if (mirrored(inst->op) == IR_OP_COUNT) return false;
    const struct ir_value *a = inst->operands[0], *b = inst->operands[1];
    return (is_linear(e, a) && is_uniform(e, b)) || (is_linear(e, b) && is_uniform(e, a));
}

static rval both(struct emit *e, rval a, rval b)
{
    return jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, a, b)));
}

static rval either(struct emit *e, rval a, rval b)
{
    return jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, a, b)));
}

/* What grows is compared in the first and in the last lane; between them it does not wrap unless they are the wrong way
   round. */
static struct lane_test test_comparison(struct emit *e, const struct ir_inst *inst)
{
    enum ir_op op = inst->op;
    struct lanes a = *emit_value(e, inst->operands[0]), b = *emit_value(e, inst->operands[1]);
    if (a.shape == SHAPE_UNIFORM) {
        struct lanes swapped = a;
        a = b;
        b = swapped;
        op = mirrored(op);
    }
    struct lanes first = lanes_uniform(a.kind, a.scalar);
    struct lanes last = op2(e, IR_OP_ADD, a.kind, first, lanes_int(e, a.kind, (uint64_t)a.stride * (e->width - 1)));
    bool is_unsigned = ir_op_info(op)->flags & IR_FLAG_UNSIGNED;
    enum ir_op less = is_unsigned ? IR_OP_ULE : IR_OP_SLE;
    struct lanes at_first = op2(e, op, IR_KIND_BOOL, first, b), at_last = op2(e, op, IR_KIND_BOOL, last, b);
    struct lanes even =
        a.stride > 0 ? op2(e, less, IR_KIND_BOOL, first, last) : op2(e, less, IR_KIND_BOOL, last, first);
    rval at_none = both(e, jit_not(e, at_first.scalar), jit_not(e, at_last.scalar));
    return (struct lane_test){both(e, even.scalar, both(e, at_first.scalar, at_last.scalar)),
                              both(e, even.scalar, at_none)};
}

struct lane_test lane_test(struct emit *e, const struct ir_value *condition)
{
    if (is_uniform(e, condition)) {
        rval v = emit_value(e, condition)->scalar;
        return (struct lane_test){v, jit_not(e, v)};
    }
    const struct ir_inst *inst = condition->of.inst;
    const struct ir_value *parts[2];
    enum logic logic = logic_of(inst, parts);
    if (!logic && inst->op != IR_OP_NOT) return test_comparison(e, inst);
    struct lane_test a = lane_test(e, logic ? parts[0] : inst->operands[0]);
    if (!logic) return (struct lane_test){a.none, a.all};
    struct lane_test b = lane_test(e, parts[1]);
    if (logic == BOTH) return (struct lane_test){both(e, a.all, b.all), either(e, a.none, b.none)};
    return (struct lane_test){either(e, a.all, b.all), both(e, a.none, b.none)};
}

static void make_masks(struct emit *e, const struct ir_value *condition, struct lane_masks *masks)
{
    if (is_uniform(e, condition)) return;
    const struct ir_inst *inst = condition->of.inst;
    for (uint32_t i = 0; i < inst->n_operands && !op_is_comparison(inst->op); i++)
        make_masks(e, inst->operands[i], masks);
    masks->before = arena_grow(e->arena, masks->before, masks->n, sizeof *masks->before);
    masks->before[masks->n++] = (struct lane_value){condition, e->values->lanes[condition->scratch]};
    emit_instruction(e, inst);
}

struct lane_masks lane_test_make_masks(struct emit *e, const struct ir_value *condition)
{
    struct lane_masks masks = {0};
    make_masks(e, condition, &masks);
    return masks;
}

void lane_test_forget_masks(struct emit *e, const struct lane_masks *masks)
{
    for (uint32_t i = masks->n; i-- > 0;) e->values->lanes[masks->before[i].value->scratch] = masks->before[i].lanes;
}

bool lane_test_is_of_ids(const struct emit *e, const struct ir_value *v)
{
    if (v->kind != IR_VALUE_RESULT) return false;
    const struct ir_inst *inst = v->of.inst;
    if (inst->op != IR_OP_AND && !op_is_comparison(inst->op)) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct ir_value *x = inst->operands[i];
        if (x->kind == IR_VALUE_CONST || x->kind == IR_VALUE_UNDEF) continue;
        if (value_shape(e, x).kind == SHAPE_LINEAR || (inst->op == IR_OP_AND && lane_test_is_of_ids(e, x))) return true;
    }
    return false;
}
