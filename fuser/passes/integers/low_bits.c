/*
 * Low bits of integers that are zero for sure, as those of 2 * id are. What is put into them with `or`, as compilers
 * write 2 * id + 1, is a sum: so what was linear stays linear, and neighbours in memory are seen to be some.
 */
#include "fuser/passes/integers/low_bits.h"

#include "ir/core/facts.h"

enum { DEEPEST = 6 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned low_zeros(const struct ir_value *v, unsigned depth)
{
    unsigned bits = ir_type_bits(v->type);
    uint64_t n;
    if (ir_value_uint(v, &n)) return n ? least((unsigned)__builtin_ctzll(n), bits) : bits;
    if (v->kind != IR_VALUE_RESULT || depth == DEEPEST) return 0;
    const struct ir_inst *inst = v->of.inst;
    struct ir_value **o = inst->operands;
    switch (inst->op) {
    case IR_OP_SHL: return ir_value_uint(o[1], &n) ? least(low_zeros(o[0], depth + 1) + n % bits, bits) : 0;
    case IR_OP_MUL: return least(low_zeros(o[0], depth + 1) + low_zeros(o[1], depth + 1), bits);
    case IR_OP_ADD:
    case IR_OP_SUB:
    case IR_OP_OR: return least(low_zeros(o[0], depth + 1), low_zeros(o[1], depth + 1));
    case IR_OP_ITRUNC:
    case IR_OP_SEXT:
    case IR_OP_ZEXT: return ir_type_is_bool(o[0]->type) ? 0 : least(low_zeros(o[0], depth + 1), bits);
    default: return 0;
    }
}

/* Whether the second operand is a number in bits that are zero in the first. */
static bool is_disjoint(const struct ir_inst *inst)
{
    uint64_t n;
    if (!ir_value_uint(inst->operands[1], &n) || !n) return false;
    unsigned zeros = low_zeros(inst->operands[0], 0);
    return zeros < ir_type_bits(inst->type) && n >> zeros == 0;
}

static struct ir_value *of_or(struct ir_inst *inst)
{
    if (!is_disjoint(inst)) return NULL;
    struct ir_builder b = ir_builder_before(inst);
    return ir_build2(&b, IR_OP_ADD, inst->type, inst->operands[0], inst->operands[1]);
}

static struct ir_value *of_extension(struct ir_inst *inst)
{
    const struct ir_value *v = inst->operands[0];
    const struct ir_inst *sum = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    uint64_t n;
    if (!sum || (sum->op != IR_OP_ADD && sum->op != IR_OP_OR) || !is_disjoint(sum)) return NULL;
    struct ir_builder b = ir_builder_before(inst);
    struct ir_value *x = ir_build1(&b, inst->op, inst->type, sum->operands[0]);
    ir_value_uint(sum->operands[1], &n);
    return ir_build2(&b, IR_OP_ADD, inst->type, x, ir_const_int(b.module, inst->type, n));
}

struct ir_value *low_bits_inst(struct ir_inst *inst)
{
    if (!inst->n_results || ir_type_lanes(inst->type) > 1 || !ir_type_is_int(inst->type)) return NULL;
    switch (inst->op) {
    case IR_OP_OR: return of_or(inst);
    case IR_OP_SEXT:
    case IR_OP_ZEXT: return of_extension(inst);
    default: return NULL;
    }
}
