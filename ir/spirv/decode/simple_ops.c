/* The table of opcodes. */
#include "ir/spirv/decode/simple_ops.h"

#include <spirv/unified1/spirv.h>

struct spirv_simple_op {
    uint16_t spirv, op;
    enum spirv_shape shape;
};

/* By opcode. */
static const struct spirv_simple_op simple_ops[] = {
    {SpvOpConvertFToU, IR_OP_FTOU, SPIRV_NUMBERS},
    {SpvOpConvertFToS, IR_OP_FTOS, SPIRV_NUMBERS},
    {SpvOpConvertSToF, IR_OP_STOF, SPIRV_NUMBERS},
    {SpvOpConvertUToF, IR_OP_UTOF, SPIRV_NUMBERS},
    {SpvOpUConvert, IR_OP_ZEXT, SPIRV_NUMBERS},
    {SpvOpSConvert, IR_OP_SEXT, SPIRV_NUMBERS},
    {SpvOpFConvert, IR_OP_FPCONV, SPIRV_NUMBERS},
    {SpvOpSatConvertSToU, IR_OP_S2U_SAT, SPIRV_NUMBERS},
    {SpvOpSatConvertUToS, IR_OP_U2S_SAT, SPIRV_NUMBERS},
    {SpvOpBitcast, IR_OP_BITCAST, SPIRV_NUMBERS},
    {SpvOpSNegate, IR_OP_NEG, SPIRV_PLAIN},
    {SpvOpFNegate, IR_OP_FNEG, SPIRV_PLAIN},
    {SpvOpIAdd, IR_OP_ADD, SPIRV_PLAIN},
    {SpvOpFAdd, IR_OP_FADD, SPIRV_PLAIN},
    {SpvOpISub, IR_OP_SUB, SPIRV_PLAIN},
    {SpvOpFSub, IR_OP_FSUB, SPIRV_PLAIN},
    {SpvOpIMul, IR_OP_MUL, SPIRV_PLAIN},
    {SpvOpFMul, IR_OP_FMUL, SPIRV_PLAIN},
    {SpvOpUDiv, IR_OP_UDIV, SPIRV_PLAIN},
    {SpvOpSDiv, IR_OP_SDIV, SPIRV_PLAIN},
    {SpvOpFDiv, IR_OP_FDIV, SPIRV_PLAIN},
    {SpvOpUMod, IR_OP_UREM, SPIRV_PLAIN},
    {SpvOpSRem, IR_OP_SREM, SPIRV_PLAIN},
    {SpvOpSMod, IR_OP_SMOD, SPIRV_PLAIN},
    {SpvOpFRem, IR_OP_FREM, SPIRV_PLAIN},
    {SpvOpAny, IR_OP_ANY, SPIRV_COMPARE},
    {SpvOpAll, IR_OP_ALL, SPIRV_COMPARE},
    {SpvOpIsNan, IR_OP_ISNAN, SPIRV_COMPARE},
    {SpvOpIsInf, IR_OP_ISINF, SPIRV_COMPARE},
    {SpvOpIsFinite, IR_OP_ISFINITE, SPIRV_COMPARE},
    {SpvOpIsNormal, IR_OP_ISNORMAL, SPIRV_COMPARE},
    {SpvOpSignBitSet, IR_OP_SIGNBIT, SPIRV_COMPARE},
    {SpvOpLessOrGreater, IR_OP_FONE, SPIRV_COMPARE},
    {SpvOpOrdered, IR_OP_FORD, SPIRV_COMPARE},
    {SpvOpUnordered, IR_OP_FUNO, SPIRV_COMPARE},
    {SpvOpLogicalEqual, IR_OP_IEQ, SPIRV_COMPARE},
    {SpvOpLogicalNotEqual, IR_OP_INE, SPIRV_COMPARE},
    {SpvOpLogicalOr, IR_OP_OR, SPIRV_PLAIN},
    {SpvOpLogicalAnd, IR_OP_AND, SPIRV_PLAIN},
    {SpvOpLogicalNot, IR_OP_NOT, SPIRV_PLAIN},
    {SpvOpIEqual, IR_OP_IEQ, SPIRV_COMPARE},
    {SpvOpINotEqual, IR_OP_INE, SPIRV_COMPARE},
    {SpvOpUGreaterThan, IR_OP_UGT, SPIRV_COMPARE},
    {SpvOpSGreaterThan, IR_OP_SGT, SPIRV_COMPARE},
    {SpvOpUGreaterThanEqual, IR_OP_UGE, SPIRV_COMPARE},
    {SpvOpSGreaterThanEqual, IR_OP_SGE, SPIRV_COMPARE},
    {SpvOpULessThan, IR_OP_ULT, SPIRV_COMPARE},
    {SpvOpSLessThan, IR_OP_SLT, SPIRV_COMPARE},
    {SpvOpULessThanEqual, IR_OP_ULE, SPIRV_COMPARE},
    {SpvOpSLessThanEqual, IR_OP_SLE, SPIRV_COMPARE},
    {SpvOpFOrdEqual, IR_OP_FOEQ, SPIRV_COMPARE},
    {SpvOpFUnordEqual, IR_OP_FUEQ, SPIRV_COMPARE},
    {SpvOpFOrdNotEqual, IR_OP_FONE, SPIRV_COMPARE},
    {SpvOpFUnordNotEqual, IR_OP_FUNE, SPIRV_COMPARE},
    {SpvOpFOrdLessThan, IR_OP_FOLT, SPIRV_COMPARE},
    {SpvOpFUnordLessThan, IR_OP_FULT, SPIRV_COMPARE},
    {SpvOpFOrdGreaterThan, IR_OP_FOGT, SPIRV_COMPARE},
    {SpvOpFUnordGreaterThan, IR_OP_FUGT, SPIRV_COMPARE},
    {SpvOpFOrdLessThanEqual, IR_OP_FOLE, SPIRV_COMPARE},
    {SpvOpFUnordLessThanEqual, IR_OP_FULE, SPIRV_COMPARE},
    {SpvOpFOrdGreaterThanEqual, IR_OP_FOGE, SPIRV_COMPARE},
    {SpvOpFUnordGreaterThanEqual, IR_OP_FUGE, SPIRV_COMPARE},
    {SpvOpShiftRightLogical, IR_OP_LSHR, SPIRV_SHIFT},
    {SpvOpShiftRightArithmetic, IR_OP_ASHR, SPIRV_SHIFT},
    {SpvOpShiftLeftLogical, IR_OP_SHL, SPIRV_SHIFT},
    {SpvOpBitwiseOr, IR_OP_OR, SPIRV_PLAIN},
    {SpvOpBitwiseXor, IR_OP_XOR, SPIRV_PLAIN},
    {SpvOpBitwiseAnd, IR_OP_AND, SPIRV_PLAIN},
    {SpvOpNot, IR_OP_NOT, SPIRV_PLAIN},
    {SpvOpBitReverse, IR_OP_BITREVERSE, SPIRV_PLAIN},
    {SpvOpBitCount, IR_OP_POPCOUNT, SPIRV_COMPARE},
    {SpvOpPtrEqual, IR_OP_IEQ, SPIRV_COMPARE},
    {SpvOpPtrNotEqual, IR_OP_INE, SPIRV_COMPARE},
};

static const struct spirv_simple_op *find_op(unsigned opcode)
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

bool spirv_simple_shape(unsigned opcode, enum spirv_shape *shape)
{
    const struct spirv_simple_op *e = find_op(opcode);
    if (e) *shape = e->shape;
    return e != NULL;
}

bool spirv_simple(unsigned opcode, ir_type result, struct ir_value *const *operands, uint32_t n, enum ir_op *op,
                  ir_type *type)
{
    const struct spirv_simple_op *e = find_op(opcode);
    if (opcode == SpvOpSelect && n == 3) {
        *op = IR_OP_SELECT;
        *type = result;
        return true;
    }
    if (!e || !n) return false;
    *op = e->op;
    *type = e->shape == SPIRV_COMPARE ? operands[0]->type : result;
    unsigned from = ir_type_bits(operands[0]->type), to = ir_type_bits(result);
    if (e->shape == SPIRV_SHIFT) return operands[0]->type == operands[1]->type;
    if (*op == IR_OP_ZEXT || *op == IR_OP_SEXT) {
        if (from == to) return false;
        if (from > to) *op = IR_OP_ITRUNC;
    }
    if (*op == IR_OP_FPCONV) return from != to;
    return true;
}
