/* Floating-point operations on one lane. What has no formula (ir/formula/formula.h) is computed in double and rounded
   once: for sum, product, quotient and square root of f32 that gives the correctly rounded result, because double has
   more than twice its precision plus two bits. */
#include "ir/eval/float.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "ir/core/float.h"
#include "ir/eval/bits.h"
#include "ir/eval/float_format.h"
#include "ir/eval/formula.h"

static uint64_t exponent_mask(struct eval_format f)
{
    return eval_mask(f.bits - 1 - f.fraction) << f.fraction;
}

static uint64_t next_after(enum ir_kind kind, uint64_t x, uint64_t y)
{
    double dx = ir_float_value(kind, x), dy = ir_float_value(kind, y);
    if (isnan(dx) || isnan(dy)) return eval_nan(kind, 0);
    if (dx == dy) return y;
    uint64_t sign = 1ull << (eval_format(kind).bits - 1);
    if (dx == 0) return (y & sign) | 1;
    return (dx < dy) == !(x & sign) ? x + 1 : x - 1; /* magnitudes are ordered as their bits */
}

/* Operations on the bits alone: they do not touch a NaN's payload. */
static bool on_bits(enum ir_op op, enum ir_kind kind, const uint64_t v[4], uint64_t *r)
{
    uint64_t sign = 1ull << (eval_format(kind).bits - 1);
    switch (op) {
    case IR_OP_FNEG: *r = v[0] ^ sign; return true;
    case IR_OP_FABS: *r = v[0] & ~sign; return true;
    case IR_OP_COPYSIGN: *r = (v[0] & ~sign) | (v[1] & sign); return true;
    case IR_OP_NAN: *r = eval_nan(kind, v[0]); return true;
    case IR_OP_NEXTAFTER: *r = next_after(kind, v[0], v[1]); return true;
    default: return false;
    }
}

/* What is exact or rounded once. */
static bool basic(enum ir_op op, enum ir_kind kind, const double v[3], int k, double *r)
{
    double x = v[0], y = v[1], z = v[2];
    int exponent;
    switch (op) {
    case IR_OP_FADD: *r = x + y; return true;
    case IR_OP_FSUB: *r = x - y; return true;
    case IR_OP_FMUL: *r = x * y; return true;
    case IR_OP_FDIV: *r = x / y; return true;
    case IR_OP_FREM: *r = fmod(x, y); return true;
    case IR_OP_REMAINDER: *r = remainder(x, y); return true;
    case IR_OP_FMA: *r = kind == IR_KIND_F32 ? fmaf((float)x, (float)y, (float)z) : fma(x, y, z); return true;
    case IR_OP_SQRT: *r = sqrt(x); return true;
    case IR_OP_FLOOR: *r = floor(x); return true;
    case IR_OP_CEIL: *r = ceil(x); return true;
    case IR_OP_TRUNC: *r = trunc(x); return true;
    case IR_OP_RINT: *r = rint(x); return true;
    case IR_OP_ROUND: *r = round(x); return true;
    case IR_OP_LDEXP: *r = ldexp(x, k); return true;
    case IR_OP_LOGB: *r = logb(x); return true;
    case IR_OP_FREXP_MANT: *r = frexp(x, &exponent); return true;
    default: return false;
    }
}

/* As FP_ILOGB0 and FP_ILOGBNAN are in the header of OpenCL C compilers. */
static int32_t exponent_of(double x)
{
    if (x == 0) return INT_MIN;
    return isfinite(x) ? ilogb(x) : INT_MAX;
}

static int32_t frexp_exponent(double x)
{
    int exponent = 0;
    if (isfinite(x)) (void)frexp(x, &exponent);
    return exponent;
}

bool eval_float(enum ir_op op, enum ir_kind kind, const uint64_t v[4], uint64_t *r)
{
    if (on_bits(op, kind, v, r) || eval_formula(op, kind, v, r)) return true;
    double x[3], d;
    for (int i = 0; i < 3; i++) x[i] = ir_float_value(kind, v[i]);
    switch (op) {
    case IR_OP_ILOGB: *r = (uint32_t)exponent_of(x[0]); return true;
    case IR_OP_FREXP_EXP: *r = (uint32_t)frexp_exponent(x[0]); return true;
    default: break;
    }
    if (!basic(op, kind, x, (int)eval_sext(v[1], 32), &d)) return false;
    *r = eval_from_double(kind, d, IR_ROUND_RTE);
    return true;
}

static bool is_normal(enum ir_kind kind, uint64_t bits)
{
    uint64_t mask = exponent_mask(eval_format(kind)), exponent = bits & mask;
    return exponent != 0 && exponent != mask;
}

static bool compare_float(enum ir_op op, enum ir_kind kind, const uint64_t v[4], uint64_t *r)
{
    double x = ir_float_value(kind, v[0]), y = ir_float_value(kind, v[1]);
    bool unordered = isnan(x) || isnan(y);
    switch (op) {
    case IR_OP_FOEQ: *r = x == y; return true;
    case IR_OP_FONE: *r = !unordered && x != y; return true;
    case IR_OP_FOLT: *r = x < y; return true;
    case IR_OP_FOLE: *r = x <= y; return true;
    case IR_OP_FOGT: *r = x > y; return true;
    case IR_OP_FOGE: *r = x >= y; return true;
    case IR_OP_FUEQ: *r = unordered || x == y; return true;
    case IR_OP_FUNE: *r = x != y; return true;
    case IR_OP_FULT: *r = !(x >= y); return true;
    case IR_OP_FULE: *r = !(x > y); return true;
    case IR_OP_FUGT: *r = !(x <= y); return true;
    case IR_OP_FUGE: *r = !(x < y); return true;
    case IR_OP_FORD: *r = !unordered; return true;
    case IR_OP_FUNO: *r = unordered; return true;
    case IR_OP_ISNAN: *r = isnan(x) != 0; return true;
    case IR_OP_ISINF: *r = isinf(x) != 0; return true;
    case IR_OP_ISFINITE: *r = isfinite(x) != 0; return true;
    case IR_OP_ISNORMAL: *r = is_normal(kind, v[0]); return true;
    case IR_OP_SIGNBIT: *r = v[0] >> (eval_format(kind).bits - 1) & 1; return true;
    default: return false;
    }
}

static bool compare_int(enum ir_op op, unsigned bits, const uint64_t v[4], uint64_t *r)
{
    int64_t x = eval_sext(v[0], bits), y = eval_sext(v[1], bits);
    switch (op) {
    case IR_OP_IEQ: *r = v[0] == v[1]; return true;
    case IR_OP_INE: *r = v[0] != v[1]; return true;
    case IR_OP_SLT: *r = x < y; return true;
    case IR_OP_SLE: *r = x <= y; return true;
    case IR_OP_SGT: *r = x > y; return true;
    case IR_OP_SGE: *r = x >= y; return true;
    case IR_OP_ULT: *r = v[0] < v[1]; return true;
    case IR_OP_ULE: *r = v[0] <= v[1]; return true;
    case IR_OP_UGT: *r = v[0] > v[1]; return true;
    case IR_OP_UGE: *r = v[0] >= v[1]; return true;
    default: return false;
    }
}

bool eval_compare(enum ir_op op, ir_type type, const uint64_t v[4], uint64_t *r)
{
    if (ir_type_is_float(type)) return compare_float(op, ir_type_kind(type), v, r);
    return compare_int(op, ir_type_bits(type) ? ir_type_bits(type) : 64, v, r);
}
