/* Conversions between numbers, one lane at a time. */
#include "ir/eval/convert.h"

#include <math.h>

#include "ir/core/float.h"
#include "ir/eval/bits.h"
#include "ir/eval/float_format.h"

typedef __int128 wide;

static uint64_t clamp(wide x, wide min, wide max)
{
    return (uint64_t)(x < min ? min : x > max ? max : x);
}

static bool convert_int(enum ir_op op, unsigned from, unsigned to, uint64_t x, uint64_t *r)
{
    wide s = eval_sext(x, from), u = x;
    wide smax = (wide)eval_mask(to - 1), umax = (wide)eval_mask(to);
    switch (op) {
    case IR_OP_ITRUNC:
    case IR_OP_ZEXT: *r = x; return true;
    case IR_OP_SEXT: *r = (uint64_t)s; return true;
    case IR_OP_SSAT: *r = clamp(s, -smax - 1, smax); return true;
    case IR_OP_USAT: *r = clamp(u, 0, umax); return true;
    case IR_OP_S2U_SAT: *r = clamp(s, 0, umax); return true;
    case IR_OP_U2S_SAT: *r = clamp(u, 0, smax); return true;
    default: return false;
    }
}

static double to_whole(double d, enum ir_rounding rounding)
{
    switch (rounding) {
    case IR_ROUND_RTE: return rint(d);
    case IR_ROUND_RTP: return ceil(d);
    case IR_ROUND_RTN: return floor(d);
    default: return trunc(d);
    }
}

static uint64_t float_to_int(double d, unsigned bits, bool is_signed, enum ir_rounding rounding)
{
    if (isnan(d)) return 0;
    d = to_whole(d, rounding);
    unsigned magnitude = is_signed ? bits - 1 : bits;
    double limit = ldexp(1.0, (int)magnitude);
    if (d >= limit) return eval_mask(magnitude);
    if (!is_signed) return d <= 0 ? 0 : (uint64_t)d;
    return d < -limit ? 1ull << magnitude : (uint64_t)(int64_t)d;
}

static uint64_t int_to_float(enum ir_kind kind, uint64_t x, bool negative, enum ir_rounding rounding)
{
    return eval_pack(kind, negative, negative ? -x : x, 0, rounding);
}

bool eval_convert(enum ir_op op, enum ir_rounding rounding, ir_type to, ir_type from, uint64_t x, uint64_t *r)
{
    enum ir_kind kind = ir_type_kind(to), from_kind = ir_type_kind(from);
    unsigned bits = ir_type_bits(to), from_bits = ir_type_bits(from);
    switch (op) {
    case IR_OP_FPCONV: *r = eval_from_double(kind, ir_float_value(from_kind, x), rounding); break;
    case IR_OP_FTOS: *r = float_to_int(ir_float_value(from_kind, x), bits, true, rounding); break;
    case IR_OP_FTOU: *r = float_to_int(ir_float_value(from_kind, x), bits, false, rounding); break;
    case IR_OP_STOF: {
        uint64_t s = (uint64_t)eval_sext(x, from_bits);
        *r = int_to_float(kind, s, s >> 63, rounding);
        break;
    }
    case IR_OP_UTOF: *r = int_to_float(kind, x, false, rounding); break;
    default:
        if (!convert_int(op, from_bits, bits, x, r)) return false;
    }
    *r &= eval_mask(bits);
    return true;
}
