/*
 * Rotations that are written as two shifts, as programs that hash or encrypt do: `x << n | x >> (32 - n)`, with a mask
 * around the amounts or without, and amounts of another width than x. Amounts are taken modulo the width, so that both
 * shifts are by 0 where n is a multiple of it: `or` gives x then, as the rotation does; a sum and `xor` do not, and
 * count where n is known to be none.
 */
#include "fuser/passes/integers/rotation.h"

#include "ir/core/builder.h"
#include "ir/core/facts.h"

static struct ir_inst *made_by(const struct ir_value *v, enum ir_op op)
{
    return v->kind == IR_VALUE_RESULT && v->of.inst->op == op ? v->of.inst : NULL;
}

/* The same number in each lane. */
static bool is_splat(const struct ir_value *v, uint64_t *bits)
{
    if (v->kind != IR_VALUE_CONST || !ir_type_is_int(v->type)) return false;
    for (unsigned i = 1; i < ir_type_lanes(v->type); i++)
        if (v->of.lanes[i] != v->of.lanes[0]) return false;
    *bits = v->of.lanes[0];
    return true;
}

/* What an amount is computed of that is the same modulo 64: without masks that keep the bits that count, and through
   conversions, as each width is a multiple of 8. */
static const struct ir_value *amount(const struct ir_value *v, unsigned bits)
{
    uint64_t mask;
    for (;;) {
        if (v->kind != IR_VALUE_RESULT) return v;
        const struct ir_inst *inst = v->of.inst;
        switch (inst->op) {
        case IR_OP_ZEXT:
        case IR_OP_SEXT:
        case IR_OP_ITRUNC:
            if (!ir_type_is_int(inst->operands[0]->type)) return v;
            break;
        case IR_OP_AND:
            if (!is_splat(inst->operands[1], &mask) || (mask & (bits - 1)) != bits - 1) return v;
            break;
        default: return v;
        }
        v = inst->operands[0];
    }
}

/* Whether v is -n modulo the width. */
static bool is_rest(const struct ir_value *v, const struct ir_value *n, unsigned bits)
{
    uint64_t whole;
    const struct ir_value *rest = amount(v, bits);
    const struct ir_inst *sub = made_by(rest, IR_OP_SUB), *neg = made_by(rest, IR_OP_NEG);
    if (neg) return ir_value_same(amount(neg->operands[0], bits), n);
    if (!sub || !is_splat(sub->operands[0], &whole) || whole % bits) return false;
    return ir_value_same(amount(sub->operands[1], bits), n);
}

static bool adds_up(const struct ir_value *left, const struct ir_value *right, unsigned bits, bool or)
{
    uint64_t n, m;
    if (is_splat(left, &n) && is_splat(right, &m)) return (n + m) % bits == 0 && (or || n % bits);
    return or &&(is_rest(right, amount(left, bits), bits) || is_rest(left, amount(right, bits), bits));
}

struct ir_value *rotation_inst(struct ir_inst *inst)
{
    unsigned bits = ir_type_bits(inst->type);
    bool or = inst->op == IR_OP_OR;
    if (! or &&inst->op != IR_OP_ADD && inst->op != IR_OP_XOR) return NULL;
    if (!ir_type_is_int(inst->type) || bits < 32) return NULL;
    for (int i = 0; i < 2; i++) {
        const struct ir_inst *left = made_by(inst->operands[i], IR_OP_SHL);
        const struct ir_inst *right = made_by(inst->operands[1 - i], IR_OP_LSHR);
        if (!left || !right || !ir_value_same(left->operands[0], right->operands[0])) continue;
        if (!adds_up(left->operands[1], right->operands[1], bits, or)) continue;
        struct ir_builder b = ir_builder_before(inst);
        return ir_build2(&b, IR_OP_ROTATE, inst->type, left->operands[0], left->operands[1]);
    }
    return NULL;
}
