/* Operations that are one instruction. */
#include "fuser/spirv/numbers/native.h"

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/OpenCL.std.h>
#include <spirv/unified1/spirv.h>

typedef struct formula_value value;

/* Of numbers and of bools; 0: none. */
static const uint16_t plain[IR_OP_COUNT] = {
    [IR_OP_ADD] = SpvOpIAdd,
    [IR_OP_SUB] = SpvOpISub,
    [IR_OP_MUL] = SpvOpIMul,
    [IR_OP_NEG] = SpvOpSNegate,
    [IR_OP_UDIV] = SpvOpUDiv,
    [IR_OP_SDIV] = SpvOpSDiv,
    [IR_OP_UREM] = SpvOpUMod,
    [IR_OP_SREM] = SpvOpSRem,
    [IR_OP_SMOD] = SpvOpSMod,
    [IR_OP_SHL] = SpvOpShiftLeftLogical,
    [IR_OP_LSHR] = SpvOpShiftRightLogical,
    [IR_OP_ASHR] = SpvOpShiftRightArithmetic,
    [IR_OP_AND] = SpvOpBitwiseAnd,
    [IR_OP_OR] = SpvOpBitwiseOr,
    [IR_OP_XOR] = SpvOpBitwiseXor,
    [IR_OP_NOT] = SpvOpNot,
    [IR_OP_FADD] = SpvOpFAdd,
    [IR_OP_FSUB] = SpvOpFSub,
    [IR_OP_FMUL] = SpvOpFMul,
    [IR_OP_FDIV] = SpvOpFDiv,
    [IR_OP_FNEG] = SpvOpFNegate,
    [IR_OP_IEQ] = SpvOpIEqual,
    [IR_OP_INE] = SpvOpINotEqual,
    [IR_OP_SLT] = SpvOpSLessThan,
    [IR_OP_SLE] = SpvOpSLessThanEqual,
    [IR_OP_SGT] = SpvOpSGreaterThan,
    [IR_OP_SGE] = SpvOpSGreaterThanEqual,
    [IR_OP_ULT] = SpvOpULessThan,
    [IR_OP_ULE] = SpvOpULessThanEqual,
    [IR_OP_UGT] = SpvOpUGreaterThan,
    [IR_OP_UGE] = SpvOpUGreaterThanEqual,
    [IR_OP_FOEQ] = SpvOpFOrdEqual,
    [IR_OP_FONE] = SpvOpFOrdNotEqual,
    [IR_OP_FOLT] = SpvOpFOrdLessThan,
    [IR_OP_FOLE] = SpvOpFOrdLessThanEqual,
    [IR_OP_FOGT] = SpvOpFOrdGreaterThan,
    [IR_OP_FOGE] = SpvOpFOrdGreaterThanEqual,
    [IR_OP_FUEQ] = SpvOpFUnordEqual,
    [IR_OP_FUNE] = SpvOpFUnordNotEqual,
    [IR_OP_FULT] = SpvOpFUnordLessThan,
    [IR_OP_FULE] = SpvOpFUnordLessThanEqual,
    [IR_OP_FUGT] = SpvOpFUnordGreaterThan,
    [IR_OP_FUGE] = SpvOpFUnordGreaterThanEqual,
    [IR_OP_ISNAN] = SpvOpIsNan,
    [IR_OP_ISINF] = SpvOpIsInf,
    [IR_OP_SELECT] = SpvOpSelect,
    [IR_OP_ITRUNC] = SpvOpUConvert,
    [IR_OP_ZEXT] = SpvOpUConvert,
    [IR_OP_SEXT] = SpvOpSConvert,
    [IR_OP_FPCONV] = SpvOpFConvert,
    [IR_OP_FTOS] = SpvOpConvertFToS,
    [IR_OP_FTOU] = SpvOpConvertFToU,
    [IR_OP_STOF] = SpvOpConvertSToF,
    [IR_OP_UTOF] = SpvOpConvertUToF,
    [IR_OP_BITCAST] = SpvOpBitcast,
};

static const uint16_t on_bools[IR_OP_COUNT] = {
    [IR_OP_AND] = SpvOpLogicalAnd,   [IR_OP_OR] = SpvOpLogicalOr,        [IR_OP_XOR] = SpvOpLogicalNotEqual,
    [IR_OP_IEQ] = SpvOpLogicalEqual, [IR_OP_INE] = SpvOpLogicalNotEqual, [IR_OP_SELECT] = SpvOpSelect,
};

/* Kernels only. */
static const uint16_t kernel_only[IR_OP_COUNT] = {
    [IR_OP_FREM] = SpvOpFRem,         [IR_OP_FORD] = SpvOpOrdered,      [IR_OP_FUNO] = SpvOpUnordered,
    [IR_OP_ISFINITE] = SpvOpIsFinite, [IR_OP_ISNORMAL] = SpvOpIsNormal, [IR_OP_SIGNBIT] = SpvOpSignBitSet,
};

/* GLSL.std.450's that are exact, plus 1. */
static const uint16_t glsl[IR_OP_COUNT] = {
    [IR_OP_FABS] = GLSLstd450FAbs + 1,   [IR_OP_FLOOR] = GLSLstd450Floor + 1,    [IR_OP_CEIL] = GLSLstd450Ceil + 1,
    [IR_OP_TRUNC] = GLSLstd450Trunc + 1, [IR_OP_RINT] = GLSLstd450RoundEven + 1, [IR_OP_SMIN] = GLSLstd450SMin + 1,
    [IR_OP_UMIN] = GLSLstd450UMin + 1,   [IR_OP_SMAX] = GLSLstd450SMax + 1,      [IR_OP_UMAX] = GLSLstd450UMax + 1,
    [IR_OP_SQRT] = GLSLstd450Sqrt + 1,   [IR_OP_FMA] = GLSLstd450Fma + 1,
};

/* What a driver must not contract or reassociate. */
static bool rounds(enum ir_op op)
{
    return op == IR_OP_FADD || op == IR_OP_FSUB || op == IR_OP_FMUL || op == IR_OP_FDIV;
}

/* Intel's compiler ends at an OpLogicalNot of what comes out of a merge. */
static unsigned opposite(struct spw *w, value operands[2])
{
    operands[1] = (value){IR_KIND_BOOL, spw_const_number(&w->m, IR_KIND_BOOL, w->lanes, 1), NULL};
    return SpvOpLogicalNotEqual;
}

static value emitted(struct spw *w, enum ir_kind kind, unsigned opcode, unsigned n, const value *args)
{
    uint32_t operands[4];
    for (unsigned i = 0; i < n; i++) operands[i] = (uint32_t)args[i].bits;
    return (value){kind, spw_emit_n(w, opcode, spw_number_type(w, kind, w->lanes), operands, n), NULL};
}

value spw_by_set(struct spw *w, const char *set, enum ir_kind kind, uint32_t number, unsigned n, const value *args)
{
    uint32_t operands[4];
    for (unsigned i = 0; i < n; i++) operands[i] = (uint32_t)args[i].bits;
    uint32_t type = spw_number_type(w, kind, w->lanes);
    return (value){kind, spw_emit_ext(w, set, number, type, operands, n), NULL};
}

bool spw_one_instruction(struct spw *w, enum ir_op op, enum ir_kind kind, unsigned n, const value *args, value *result)
{
    bool bools = args[op == IR_OP_SELECT].kind == IR_KIND_BOOL;
    unsigned opcode = bools ? on_bools[op] : plain[op];
    value with_true[2] = {args[0]};
    if (bools && op == IR_OP_NOT) {
        opcode = opposite(w, with_true);
        args = with_true;
        n = 2;
    }
    if (!opcode && !w->vulkan) opcode = kernel_only[op];
    if (opcode) {
        *result = emitted(w, kind, opcode, n, args);
        if (w->vulkan && rounds(op)) spw_decorate(&w->m, (uint32_t)result->bits, SpvDecorationNoContraction, NULL, 0);
        return true;
    }
    if (w->vulkan && glsl[op]) {
        *result = spw_by_set(w, "GLSL.std.450", kind, glsl[op] - 1u, n, args);
        return true;
    }
    return false;
}

value spw_native(struct spw *w, enum ir_op op, enum ir_kind kind, unsigned n, const value *args)
{
    value result = args[0];
    spw_one_instruction(w, op, kind, n, args, &result);
    return result;
}
