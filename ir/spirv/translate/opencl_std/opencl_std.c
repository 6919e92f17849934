/* The instruction set OpenCL.std: functions that are one operation. */
#include "ir/spirv/translate/opencl_std/opencl_std.h"

#include <spirv/unified1/OpenCL.std.h>

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/opencl_std/build.h"
#include "ir/spirv/translate/opencl_std/printf.h"
#include "ir/spirv/translate/opencl_std/several_ops.h"
#include "ir/spirv/translate/opencl_std/vector_memory.h"
#include "ir/spirv/translate/values/values.h"

/* The operation for each function that is one, with as many operands; IR_OP_COUNT: none. T is the result's type, but
   of functions that give an i32 or one component the first operand's. */
static const uint16_t ops[256] = {
#define F(name, op) [OpenCLstd_##name] = IR_OP_##op + 1
    F(Acos, ACOS),
    F(Acosh, ACOSH),
    F(Acospi, ACOSPI),
    F(Asin, ASIN),
    F(Asinh, ASINH),
    F(Asinpi, ASINPI),
    F(Atan, ATAN),
    F(Atan2, ATAN2),
    F(Atanh, ATANH),
    F(Atanpi, ATANPI),
    F(Atan2pi, ATAN2PI),
    F(Cbrt, CBRT),
    F(Ceil, CEIL),
    F(Copysign, COPYSIGN),
    F(Cos, COS),
    F(Cosh, COSH),
    F(Cospi, COSPI),
    F(Erfc, ERFC),
    F(Erf, ERF),
    F(Exp, EXP),
    F(Exp2, EXP2),
    F(Exp10, EXP10),
    F(Expm1, EXPM1),
    F(Fabs, FABS),
    F(Fdim, FDIM),
    F(Floor, FLOOR),
    F(Fma, FMA),
    F(Fmax, FMAX),
    F(Fmin, FMIN),
    F(Fmod, FREM),
    F(Hypot, HYPOT),
    F(Ilogb, ILOGB),
    F(Ldexp, LDEXP),
    F(Lgamma, LGAMMA),
    F(Log, LOG),
    F(Log2, LOG2),
    F(Log10, LOG10),
    F(Log1p, LOG1P),
    F(Logb, LOGB),
    F(Mad, MAD),
    F(Maxmag, MAXMAG),
    F(Minmag, MINMAG),
    F(Nan, NAN),
    F(Nextafter, NEXTAFTER),
    F(Pow, POW),
    F(Pown, POWN),
    F(Powr, POWR),
    F(Remainder, REMAINDER),
    F(Rint, RINT),
    F(Rootn, ROOTN),
    F(Round, ROUND),
    F(Rsqrt, RSQRT),
    F(Sin, SIN),
    F(Sinh, SINH),
    F(Sinpi, SINPI),
    F(Sqrt, SQRT),
    F(Tan, TAN),
    F(Tanh, TANH),
    F(Tanpi, TANPI),
    F(Tgamma, TGAMMA),
    F(Trunc, TRUNC),
    F(Half_cos, COS),
    F(Half_divide, FDIV),
    F(Half_exp, EXP),
    F(Half_exp2, EXP2),
    F(Half_exp10, EXP10),
    F(Half_log, LOG),
    F(Half_log2, LOG2),
    F(Half_log10, LOG10),
    F(Half_powr, POWR),
    F(Half_rsqrt, RSQRT),
    F(Half_sin, SIN),
    F(Half_sqrt, SQRT),
    F(Half_tan, TAN),
    F(Native_cos, COS),
    F(Native_divide, FDIV),
    F(Native_exp, EXP),
    F(Native_exp2, EXP2),
    F(Native_exp10, EXP10),
    F(Native_log, LOG),
    F(Native_log2, LOG2),
    F(Native_log10, LOG10),
    F(Native_powr, POWR),
    F(Native_rsqrt, RSQRT),
    F(Native_sin, SIN),
    F(Native_sqrt, SQRT),
    F(Native_tan, TAN),
    F(FClamp, FCLAMP),
    F(Degrees, DEGREES),
    F(FMax_common, FMAX),
    F(FMin_common, FMIN),
    F(Mix, MIX),
    F(Radians, RADIANS),
    F(Step, STEP),
    F(Smoothstep, SMOOTHSTEP),
    F(Sign, SIGN),
    F(Cross, CROSS),
    F(Distance, DISTANCE),
    F(Length, LENGTH),
    F(Normalize, NORMALIZE),
    F(Fast_distance, DISTANCE),
    F(Fast_length, LENGTH),
    F(Fast_normalize, NORMALIZE),
    F(SAbs, SABS),
    F(SAbs_diff, SABS_DIFF),
    F(SAdd_sat, SADD_SAT),
    F(UAdd_sat, UADD_SAT),
    F(SHadd, SHADD),
    F(UHadd, UHADD),
    F(SRhadd, SRHADD),
    F(URhadd, URHADD),
    F(SClamp, SCLAMP),
    F(UClamp, UCLAMP),
    F(Clz, CLZ),
    F(Ctz, CTZ),
    F(SMad_hi, SMAD_HI),
    F(UMad_sat, UMAD_SAT),
    F(SMad_sat, SMAD_SAT),
    F(SMax, SMAX),
    F(UMax, UMAX),
    F(SMin, SMIN),
    F(UMin, UMIN),
    F(SMul_hi, SMUL_HI),
    F(Rotate, ROTATE),
    F(SSub_sat, SSUB_SAT),
    F(USub_sat, USUB_SAT),
    F(Popcount, POPCOUNT),
    F(SMad24, SMAD24),
    F(UMad24, UMAD24),
    F(SMul24, SMUL24),
    F(UMul24, UMUL24),
    F(UAbs_diff, UABS_DIFF),
    F(UMul_hi, UMUL_HI),
    F(UMad_hi, UMAD_HI),
    F(Bitselect, BITSELECT),
    F(Shuffle, VSHUFFLE),
    F(Shuffle2, VSHUFFLE2),
#undef F
};

/* Operands that the table gives another type than SPIR-V does: a scalar beside vectors. */
static struct ir_value *fit_lanes(struct spirv_body *s, struct ir_value *v, ir_type wanted)
{
    unsigned lanes = ir_type_lanes(wanted);
    if (ir_type_lanes(v->type) == lanes || ir_type_lanes(v->type) != 1) return v;
    return ir_build1(&s->b, IR_OP_SPLAT, ir_type_with_lanes(v->type, lanes), v);
}

static void emit_one(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op)
{
    struct ir_value *operands[3];
    uint32_t n = i->n - 5u;
    ir_type t = spirv_result_type(s->r, i);
    const char *letters = ir_op_info(op)->operands;
    for (uint32_t k = 0; k < n && k < 3; k++) operands[k] = spirv_value(s, i, i->words[5 + k]);
    if (spirv_failed(s->r)) return;
    if (n > 3 || n < 1) {
        spirv_fail(s->r, i, "has %u operands", n);
        return;
    }
    char result = ir_op_info(op)->result;
    if (result == 'I' || result == 'E') t = operands[0]->type;
    for (uint32_t k = 0; k < n && letters[0] != 'V'; k++) {
        operands[k] = fit_lanes(s, operands[k], t);
        if (letters[k] == 'J') operands[k] = spirv_as_int(s, operands[k], IR_I32);
    }
    spirv_set(s, i, spirv_ext_build(s, i, op, t, operands, n));
}

bool spirv_emit_ext(struct spirv_body *s, const struct spirv_inst *i)
{
    if (i->op != SpvOpExtInst) return false;
    uint32_t function = i->words[4];
    if (i->words[3] != s->r->index.opencl_std) {
        const struct spirv_inst *set = spirv_def(s->r, i->words[3]);
        const char *name = set ? spirv_string(set->words + 2) : "";
        bool debug = i->type && spirv_result_type(s->r, i) == IR_VOID; /* facts for debuggers give nothing */
        if (!debug) spirv_fail(s->r, i, "of the set %s, which cannot be read", name);
    } else if (function < 256 && ops[function]) {
        emit_one(s, i, (enum ir_op)(ops[function] - 1));
    } else if (!spirv_ext_special(s, i) && !spirv_ext_data(s, i) && !spirv_ext_printf(s, i)) {
        spirv_fail(s->r, i, "OpenCL.std function %u cannot be read", function);
    }
    return true;
}
