/* Instructions that are one operation of ir. */
#include "ir/spirv/translate/values/body.h"

enum shape {
    PLAIN,   /* T is the result's type */
    COMPARE, /* T is the operands' type */
    SHIFT,   /* PLAIN, the second operand an integer of any width */
    NUMBERS, /* PLAIN, the source a number of another type */
};

struct simple {
    uint16_t spirv, op;
    enum shape shape;
};

/* By opcode. */
static const struct simple simple_ops[] = {
    {SpvOpConvertFToU, IR_OP_FTOU, NUMBERS},
    {SpvOpConvertFToS, IR_OP_FTOS, NUMBERS},
    {SpvOpConvertSToF, IR_OP_STOF, NUMBERS},
    {SpvOpConvertUToF, IR_OP_UTOF, NUMBERS},
    {SpvOpUConvert, IR_OP_ZEXT, NUMBERS},
    {SpvOpSConvert, IR_OP_SEXT, NUMBERS},
    {SpvOpFConvert, IR_OP_FPCONV, NUMBERS},
    {SpvOpSatConvertSToU, IR_OP_S2U_SAT, NUMBERS},
    {SpvOpSatConvertUToS, IR_OP_U2S_SAT, NUMBERS},
    {SpvOpBitcast, IR_OP_BITCAST, NUMBERS},
    {SpvOpSNegate, IR_OP_NEG, PLAIN},
    {SpvOpFNegate, IR_OP_FNEG, PLAIN},
    {SpvOpIAdd, IR_OP_ADD, PLAIN},
    {SpvOpFAdd, IR_OP_FADD, PLAIN},
    {SpvOpISub, IR_OP_SUB, PLAIN},
    {SpvOpFSub, IR_OP_FSUB, PLAIN},
    {SpvOpIMul, IR_OP_MUL, PLAIN},
    {SpvOpFMul, IR_OP_FMUL, PLAIN},
    {SpvOpUDiv, IR_OP_UDIV, PLAIN},
    {SpvOpSDiv, IR_OP_SDIV, PLAIN},
    {SpvOpFDiv, IR_OP_FDIV, PLAIN},
    {SpvOpUMod, IR_OP_UREM, PLAIN},
    {SpvOpSRem, IR_OP_SREM, PLAIN},
    {SpvOpSMod, IR_OP_SMOD, PLAIN},
    {SpvOpFRem, IR_OP_FREM, PLAIN},
    {SpvOpAny, IR_OP_ANY, COMPARE},
    {SpvOpAll, IR_OP_ALL, COMPARE},
    {SpvOpIsNan, IR_OP_ISNAN, COMPARE},
    {SpvOpIsInf, IR_OP_ISINF, COMPARE},
    {SpvOpIsFinite, IR_OP_ISFINITE, COMPARE},
    {SpvOpIsNormal, IR_OP_ISNORMAL, COMPARE},
    {SpvOpSignBitSet, IR_OP_SIGNBIT, COMPARE},
    {SpvOpLessOrGreater, IR_OP_FONE, COMPARE},
    {SpvOpOrdered, IR_OP_FORD, COMPARE},
    {SpvOpUnordered, IR_OP_FUNO, COMPARE},
    {SpvOpLogicalEqual, IR_OP_IEQ, COMPARE},
    {SpvOpLogicalNotEqual, IR_OP_INE, COMPARE},
    {SpvOpLogicalOr, IR_OP_OR, PLAIN},
    {SpvOpLogicalAnd, IR_OP_AND, PLAIN},
    {SpvOpLogicalNot, IR_OP_NOT, PLAIN},
    {SpvOpIEqual, IR_OP_IEQ, COMPARE},
    {SpvOpINotEqual, IR_OP_INE, COMPARE},
    {SpvOpUGreaterThan, IR_OP_UGT, COMPARE},
    {SpvOpSGreaterThan, IR_OP_SGT, COMPARE},
    {SpvOpUGreaterThanEqual, IR_OP_UGE, COMPARE},
    {SpvOpSGreaterThanEqual, IR_OP_SGE, COMPARE},
    {SpvOpULessThan, IR_OP_ULT, COMPARE},
    {SpvOpSLessThan, IR_OP_SLT, COMPARE},
    {SpvOpULessThanEqual, IR_OP_ULE, COMPARE},
    {SpvOpSLessThanEqual, IR_OP_SLE, COMPARE},
    {SpvOpFOrdEqual, IR_OP_FOEQ, COMPARE},
    {SpvOpFUnordEqual, IR_OP_FUEQ, COMPARE},
    {SpvOpFOrdNotEqual, IR_OP_FONE, COMPARE},
    {SpvOpFUnordNotEqual, IR_OP_FUNE, COMPARE},
    {SpvOpFOrdLessThan, IR_OP_FOLT, COMPARE},
    {SpvOpFUnordLessThan, IR_OP_FULT, COMPARE},
    {SpvOpFOrdGreaterThan, IR_OP_FOGT, COMPARE},
    {SpvOpFUnordGreaterThan, IR_OP_FUGT, COMPARE},
    {SpvOpFOrdLessThanEqual, IR_OP_FOLE, COMPARE},
    {SpvOpFUnordLessThanEqual, IR_OP_FULE, COMPARE},
    {SpvOpFOrdGreaterThanEqual, IR_OP_FOGE, COMPARE},
    {SpvOpFUnordGreaterThanEqual, IR_OP_FUGE, COMPARE},
    {SpvOpShiftRightLogical, IR_OP_LSHR, SHIFT},
    {SpvOpShiftRightArithmetic, IR_OP_ASHR, SHIFT},
    {SpvOpShiftLeftLogical, IR_OP_SHL, SHIFT},
    {SpvOpBitwiseOr, IR_OP_OR, PLAIN},
    {SpvOpBitwiseXor, IR_OP_XOR, PLAIN},
    {SpvOpBitwiseAnd, IR_OP_AND, PLAIN},
    {SpvOpNot, IR_OP_NOT, PLAIN},
    {SpvOpBitReverse, IR_OP_BITREVERSE, PLAIN},
    {SpvOpBitCount, IR_OP_POPCOUNT, COMPARE},
    {SpvOpPtrEqual, IR_OP_IEQ, COMPARE},
    {SpvOpPtrNotEqual, IR_OP_INE, COMPARE},
};

static const struct simple *find(unsigned opcode)
{
    unsigned low = 0, high = sizeof simple_ops / sizeof *simple_ops;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (simple_ops[middle].spirv == opcode) return &simple_ops[middle];
        if (simple_ops[middle].spirv < opcode) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

bool spirv_simple(unsigned opcode, ir_type result, struct ir_value *const *operands, uint32_t n, enum ir_op *op,
                  ir_type *type)
{
    const struct simple *e = find(opcode);
    if (opcode == SpvOpSelect && n == 3) {
        *op = IR_OP_SELECT;
        *type = result;
        return true;
    }
    if (!e || !n) return false;
    *op = e->op;
    *type = e->shape == COMPARE ? operands[0]->type : result;
    unsigned from = ir_type_bits(operands[0]->type), to = ir_type_bits(result);
    if (e->shape == SHIFT) return operands[0]->type == operands[1]->type;
    if (*op == IR_OP_ZEXT || *op == IR_OP_SEXT) {
        if (from == to) return false;
        if (from > to) *op = IR_OP_ITRUNC;
    }
    if (*op == IR_OP_FPCONV) return from != to;
    return true;
}

uint8_t spirv_fp_flags(const struct spirv_body *s, uint32_t id)
{
    const uint32_t *mode = spirv_decoration(s->r, id, SpvDecorationFPFastMathMode, NULL);
    uint8_t flags = s->contract && !spirv_decoration(s->r, id, SpvDecorationNoContraction, NULL) ? IR_FP_CONTRACT : 0;
    if (!mode) return flags;
    if (mode[0] & SpvFPFastMathModeNotNaNMask) flags |= IR_FP_NNAN;
    if (mode[0] & SpvFPFastMathModeNotInfMask) flags |= IR_FP_NINF;
    if (mode[0] & SpvFPFastMathModeNSZMask) flags |= IR_FP_NSZ;
    if (mode[0] & SpvFPFastMathModeAllowContractFastINTELMask) flags |= IR_FP_CONTRACT;
    if (mode[0] & SpvFPFastMathModeFastMask) flags |= IR_FP_NNAN | IR_FP_NINF | IR_FP_NSZ | IR_FP_CONTRACT;
    return flags;
}

/* ---- instructions of several operations ---- */

/* The remainder with the divisor's sign. */
static struct ir_value *fmod_floor(struct spirv_body *s, ir_type t, struct ir_value *x, struct ir_value *y)
{
    struct ir_value *r = ir_build2(&s->b, IR_OP_FREM, t, x, y);
    struct ir_value *zero = ir_const_float(s->r->module, t, 0);
    struct ir_value *differ = ir_build2(&s->b, IR_OP_INE, ir_type_with_lanes(IR_BOOL, ir_type_lanes(t)),
                                        ir_build1(&s->b, IR_OP_SIGNBIT, t, r), ir_build1(&s->b, IR_OP_SIGNBIT, t, y));
    struct ir_value *some = ir_build2(&s->b, IR_OP_FUNE, t, r, zero);
    struct ir_value *moved = ir_build2(&s->b, IR_OP_FADD, t, r, y);
    struct ir_value *both = ir_build2(&s->b, IR_OP_AND, differ->type, differ, some);
    return ir_build3(&s->b, IR_OP_SELECT, t, both, moved, r);
}

static void emit_pair(struct spirv_body *s, const struct spirv_inst *i, enum ir_op low, enum ir_op high)
{
    struct ir_value *x = spirv_value(s, i, i->words[3]), *y = spirv_value(s, i, i->words[4]), *pair[2];
    ir_type t = x->type;
    pair[0] = ir_build2(&s->b, low, t, x, y);
    if (low == IR_OP_MUL) {
        pair[1] = ir_build2(&s->b, high, t, x, y);
    } else { /* a carry out of the sum, or a borrow */
        struct ir_value *carry =
            ir_build2(&s->b, IR_OP_ULT, t, low == IR_OP_ADD ? pair[0] : x, low == IR_OP_ADD ? x : y);
        pair[1] = ir_build1(&s->b, IR_OP_ZEXT, t, carry);
    }
    spirv_set_all(s, i->id, pair);
}

static void emit_select(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *cond = spirv_value(s, i, i->words[3]);
    struct ir_value *const *x = spirv_values(s, i, i->words[4]), *const *y = spirv_values(s, i, i->words[5]);
    uint32_t n = spirv_leaves(s->r, i->type);
    struct ir_value **r = arena_alloc(s->r->arena, (n + 1) * sizeof(*r));
    for (uint32_t k = 0; k < n; k++) r[k] = ir_build3(&s->b, IR_OP_SELECT, x[k]->type, cond, x[k], y[k]);
    if (n) spirv_set_all(s, i->id, r);
}

static bool emit_special(struct spirv_body *s, const struct spirv_inst *i)
{
    ir_type t = i->type ? s->r->ids[i->type].type : IR_VOID;
    switch (i->op) {
    case SpvOpFMod:
        spirv_set(s, i, fmod_floor(s, t, spirv_value(s, i, i->words[3]), spirv_value(s, i, i->words[4])));
        return true;
    case SpvOpVectorTimesScalar: {
        struct ir_value *splat = ir_build1(&s->b, IR_OP_SPLAT, t, spirv_value(s, i, i->words[4]));
        spirv_set(s, i, ir_build2(&s->b, IR_OP_FMUL, t, spirv_value(s, i, i->words[3]), splat));
        return true;
    }
    case SpvOpDot: {
        struct ir_value *x = spirv_value(s, i, i->words[3]);
        if (ir_type_lanes(x->type) > 4) {
            spirv_fail(s->r, i, "of %u components; 4 are the most", ir_type_lanes(x->type));
        } else {
            spirv_set(s, i, ir_build2(&s->b, IR_OP_DOT, x->type, x, spirv_value(s, i, i->words[4])));
        }
        return true;
    }
    case SpvOpIAddCarry: emit_pair(s, i, IR_OP_ADD, IR_OP_ADD); return true;
    case SpvOpISubBorrow: emit_pair(s, i, IR_OP_SUB, IR_OP_SUB); return true;
    case SpvOpUMulExtended: emit_pair(s, i, IR_OP_MUL, IR_OP_UMUL_HI); return true;
    case SpvOpSMulExtended: emit_pair(s, i, IR_OP_MUL, IR_OP_SMUL_HI); return true;
    case SpvOpBitFieldInsert: {
        struct ir_value *o[4] = {spirv_value(s, i, i->words[3]), spirv_value(s, i, i->words[4]),
                                 spirv_as_int(s, spirv_value(s, i, i->words[5]), IR_I32),
                                 spirv_as_int(s, spirv_value(s, i, i->words[6]), IR_I32)};
        spirv_set(s, i, ir_build(&s->b, IR_OP_BITFIELD_INSERT, t, o, 4)->results[0]);
        return true;
    }
    case SpvOpBitFieldSExtract:
    case SpvOpBitFieldUExtract:
        spirv_set(s, i,
                  ir_build3(&s->b, i->op == SpvOpBitFieldSExtract ? IR_OP_SBITFIELD_EXTRACT : IR_OP_UBITFIELD_EXTRACT,
                            t, spirv_value(s, i, i->words[3]), spirv_as_int(s, spirv_value(s, i, i->words[4]), IR_I32),
                            spirv_as_int(s, spirv_value(s, i, i->words[5]), IR_I32)));
        return true;
    case SpvOpSelect: emit_select(s, i); return true;
    case SpvOpExpectKHR: spirv_set_all(s, i->id, spirv_values(s, i, i->words[3])); return true;
    default: return false;
    }
}

bool spirv_emit_arith(struct spirv_body *s, const struct spirv_inst *i)
{
    if (emit_special(s, i)) return true;
    const struct simple *e = find(i->op);
    if (!e || e->shape == NUMBERS) return false;
    struct ir_value *operands[2];
    uint32_t n = i->n - 3u;
    if (n < 1 || n > 2) return false;
    for (uint32_t k = 0; k < n; k++) operands[k] = spirv_value(s, i, i->words[3 + k]);
    if (e->shape == SHIFT) operands[1] = spirv_as_int(s, operands[1], operands[0]->type);
    enum ir_op op;
    ir_type t;
    if (s->r->failed_function || !spirv_simple(i->op, s->r->ids[i->type].type, operands, n, &op, &t)) return false;
    struct ir_inst *inst = ir_build(&s->b, op, t, operands, n);
    for (const char *a = ir_op_info(op)->attrs; *a; a++)
        if (*a == 'f') inst->attrs.fp = spirv_fp_flags(s, i->id);
    spirv_set(s, i,
              i->op == SpvOpBitCount ? spirv_as_int(s, inst->results[0], s->r->ids[i->type].type) : inst->results[0]);
    return true;
}
