/* Floats: questions, signs, conversions, of the simplest operations. */
#include "fuser/spirv/numbers/float.h"

#include <math.h>

#include "fuser/spirv/numbers/notation.h"

static uint64_t sign_bit(enum ir_kind kind)
{
    return 1ull << (spw_bits(kind) - 1);
}

static uint64_t infinity_of(enum ir_kind kind)
{
    return kind == IR_KIND_F16 ? 0x7c00 : kind == IR_KIND_F32 ? 0x7f800000 : 0x7ff0000000000000;
}

static uint64_t least_normal(enum ir_kind kind)
{
    return kind == IR_KIND_F16 ? 0x400 : kind == IR_KIND_F32 ? 0x800000 : 0x10000000000000;
}

/* ---- questions ---- */

static bool expand_question(const struct formula *f, enum ir_op op, value x, value y, value *result)
{
    enum ir_kind real = x.kind, kind = spw_int_kind(real);
    value bits, magnitude;
    switch (op) {
    case IR_OP_FORD: *result = IS2(AND, IS2(FOEQ, x, x), IS2(FOEQ, y, y)); return true;
    case IR_OP_FUNO: *result = IS2(OR, IS2(FUNE, x, x), IS2(FUNE, y, y)); return true;
    case IR_OP_ISNAN: *result = IS2(FUNE, x, x); return true;
    default: break;
    }
    if (op < IR_OP_ISINF || op > IR_OP_SIGNBIT) return false;
    bits = AS_BITS(x);
    magnitude = OP2(AND, bits, K(sign_bit(real) - 1));
    switch (op) {
    case IR_OP_ISINF: *result = IS2(IEQ, magnitude, K(infinity_of(real))); return true;
    case IR_OP_ISFINITE: *result = IS2(ULT, magnitude, K(infinity_of(real))); return true;
    case IR_OP_ISNORMAL: {
        value above = OP2(SUB, magnitude, K(least_normal(real)));
        *result = IS2(ULT, above, K(infinity_of(real) - least_normal(real)));
        return true;
    }
    default: *result = IS2(SLT, bits, K(0)); return true;
    }
}

/* ---- bits ---- */

static value with_sign(const struct formula *f, value magnitude, value sign)
{
    enum ir_kind real = magnitude.kind, kind = spw_int_kind(real);
    value low = OP2(AND, AS_BITS(magnitude), K(sign_bit(real) - 1)), high = OP2(AND, AS_BITS(sign), K(sign_bit(real)));
    return BITS(real, OP2(OR, low, high));
}

/* Away from zero where half or more is cut off. */
static value rounded_away(const struct formula *f, enum ir_kind kind, value x)
{
    value whole = OP1(TRUNC, x), rest = OP1(FABS, OP2(FSUB, x, whole));
    value up = SELECT(IS2(FOGE, rest, C(0.5)), OP2(FADD, whole, OP2(COPYSIGN, C(1), x)), whole);
    return with_sign(f, up, x);
}

/* The magnitudes of floats are ordered as their bits. */
static value next_after(const struct formula *f, value x, value y)
{
    enum ir_kind real = x.kind, kind = spw_int_kind(real);
    value bits = AS_BITS(x), negative = IS2(SLT, bits, K(0)), grows = IS2(XOR, IS2(FOLT, x, y), negative);
    value step = SELECT(grows, OP2(ADD, bits, K(1)), OP2(SUB, bits, K(1)));
    value least = OP2(OR, OP2(AND, AS_BITS(y), K(sign_bit(real))), K(1));
    value r = SELECT(IS2(IEQ, OP2(SHL, bits, K(1)), K(0)), least, step);
    r = SELECT(IS2(FOEQ, x, y), AS_BITS(y), r);
    value nan = K(ir_float_bits(real, NAN));
    return BITS(real, SELECT(IS2(FUNO, x, y), nan, r));
}

static value nan_of(const struct formula *f, enum ir_kind real, value code)
{
    enum ir_kind kind = spw_int_kind(real);
    uint64_t payload = real == IR_KIND_F16 ? 0x1ff : real == IR_KIND_F32 ? 0x3fffff : 0x7ffffffffffff;
    uint64_t quiet = real == IR_KIND_F16 ? 0x7e00 : real == IR_KIND_F32 ? 0x7fc00000 : 0x7ff8000000000000;
    unsigned bits = spw_bits(kind);
    if (bits < 32) code = OP1(ITRUNC, code);
    if (bits > 32) code = OP1(ZEXT, code);
    return BITS(real, OP2(OR, OP2(AND, code, K(payload)), K(quiet)));
}

/* x * 2^y: times 2^(y/2), and again, of which only the last makes it round. z has y / 2 in its last bits, and nothing
   in those that become exponents but that. */
static value scaled(const struct formula *f, value x, value z)
{
    enum ir_kind kind = IR_KIND_F32;
    value power = BITS(kind, INT2(ADD, INT2(SHL, AS_BITS(z), I(23)), I(0x3f800000)));
    return OP2(FMUL, OP2(FMUL, x, power), power);
}

bool spw_expand_float(struct spw *w, enum ir_op op, enum ir_kind kind, const value *args, value *result)
{
    const struct formula *f = &w->formula;
    value x = args[0], y = args[1];
    if (op == IR_OP_NAN) {
        *result = nan_of(f, kind, x);
        return true;
    }
    if (!w->vulkan) return false;
    switch ((unsigned)op) {
    case IR_OP_COPYSIGN: *result = with_sign(f, x, y); return true;
    case IR_OP_NEXTAFTER: *result = next_after(f, x, y); return true;
    case IR_OP_ROUND: *result = rounded_away(f, kind, x); return true;
    case FORMULA_FMIN: *result = SELECT(IS2(FOLT, x, y), x, y); return true;
    case FORMULA_FMAX: *result = SELECT(IS2(FOGT, x, y), x, y); return true;
    case FORMULA_SCALE: *result = scaled(f, x, args[2]); return true;
    default: return expand_question(f, op, x, y, result);
    }
}
