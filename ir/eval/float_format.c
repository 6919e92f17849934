/* Numbers as bits of a format, rounded once. */
#include "ir/eval/float_format.h"

#include <math.h>
#include <string.h>

#include "ir/eval/bits.h"

struct eval_format eval_format(enum ir_kind kind)
{
    switch (kind) {
    case IR_KIND_F16: return (struct eval_format){16, 10, 15};
    case IR_KIND_F32: return (struct eval_format){32, 23, 127};
    default: return (struct eval_format){64, 52, 1023};
    }
}

static uint64_t exponent_mask(struct eval_format f)
{
    return eval_mask(f.bits - 1 - f.fraction) << f.fraction;
}

static bool rounds_up(enum ir_rounding rounding, bool negative, bool odd, unsigned __int128 rest,
                      unsigned __int128 half)
{
    switch (rounding) {
    case IR_ROUND_RTZ: return false;
    case IR_ROUND_RTP: return !negative && rest != 0;
    case IR_ROUND_RTN: return negative && rest != 0;
    default: return rest > half || (rest == half && odd);
    }
}

uint64_t eval_pack(enum ir_kind kind, bool negative, uint64_t significand, int exponent, enum ir_rounding rounding)
{
    struct eval_format f = eval_format(kind);
    uint64_t sign = (uint64_t)negative << (f.bits - 1);
    if (significand == 0) return sign;

    int zeros = __builtin_clzll(significand);
    significand <<= zeros;
    exponent += 63 - zeros; /* now that of the leading bit */

    int least = 1 - f.bias, kept = (int)f.fraction + 1;
    if (exponent < least) kept -= least - exponent;
    int shift = 64 - kept > 66 ? 66 : 64 - kept;
    unsigned __int128 one = 1, whole = significand, quotient = whole >> shift;
    unsigned __int128 rest = whole & ((one << shift) - 1);
    if (shift > 0 && rounds_up(rounding, negative, quotient & 1, rest, one << (shift - 1))) quotient++;

    /* A carry out of the fraction runs into the exponent, which is what it should do. */
    uint64_t magnitude = (uint64_t)quotient;
    if (exponent > f.bias)
        magnitude = exponent_mask(f);
    else if (exponent >= least)
        magnitude += (uint64_t)(exponent + f.bias - 1) << f.fraction;
    if (magnitude >= exponent_mask(f)) {
        bool finite = rounding == IR_ROUND_RTZ || (rounding == IR_ROUND_RTP && negative) ||
                      (rounding == IR_ROUND_RTN && !negative);
        magnitude = exponent_mask(f) - finite;
    }
    return sign | magnitude;
}

uint64_t eval_nan(enum ir_kind kind, uint64_t payload)
{
    struct eval_format f = eval_format(kind);
    return exponent_mask(f) | 1ull << (f.fraction - 1) | (payload & eval_mask(f.fraction - 1));
}

uint64_t eval_from_double(enum ir_kind kind, double d, enum ir_rounding rounding)
{
    struct eval_format f = eval_format(kind);
    if (isnan(d)) return eval_nan(kind, 0);
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    if (kind == IR_KIND_F64) return bits;
    bool negative = bits >> 63;
    if (isinf(d)) return (uint64_t)negative << (f.bits - 1) | exponent_mask(f);
    uint64_t fraction = bits & eval_mask(52);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0) return eval_pack(kind, negative, fraction, -1074, rounding);
    return eval_pack(kind, negative, fraction | 1ull << 52, exponent - 1075, rounding);
}
