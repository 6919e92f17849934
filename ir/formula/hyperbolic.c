/*
 * sinh, cosh and tanh of f32, written out as exp is, and hypotenuses. Errors, measured over all floats: sinh 1.8 ulp,
 * cosh 1.1, tanh 1.4; hypot 1.5.
 */
#include "ir/formula/hyperbolic.h"

#include <math.h>

#include "ir/formula/notation.h"
#include "ir/formula/polynomial.h"

/* ---- sinh, cosh ---- */

/* |x| = n ln 2 + r: 2^(n-1), 2^(-n-1), sinh r and cosh r - 1. With them sinh |x| = S cosh r + C sinh r and
   cosh |x| = C cosh r + S sinh r, where S and C are the difference and the sum of the two powers. */
struct parts {
    value up, down, sine, cosine_rest;
};

static struct parts parts_of(const struct formula *f, value x)
{
    enum ir_kind kind = IR_KIND_F32;
    static const double sine[] = {0x1.555556p-3, 0x1.110fe2p-7, 0x1.a28f22p-13};
    static const double cosine[] = {0.5, 0x1.5554e4p-5, 0x1.6d5168p-10};
    static const double ln2_high = 0x1.62e430p-1, ln2_low = -0x1.05c610p-29;
    const uint32_t bits_of_whole = 0x4b400000, half = 126;
    value a = OP1(FABS, x), sum = OP3(FMA, a, C(M_LOG2E), C(0x1.8p23));
    value n = OP1(FNEG, OP2(FSUB, sum, C(0x1.8p23))), whole = INT2(SUB, BITS(IR_KIND_I32, sum), I(bits_of_whole));
    value first = OP3(FMA, n, C(ln2_high), a), r = OP3(FMA, n, C(ln2_low), first);
    value low = OP3(FMA, n, C(ln2_low), OP2(FSUB, first, r)), square = OP2(FMUL, r, r);
    return (struct parts){
        BITS(kind, INT2(SHL, INT2(ADD, I(half), whole), I(23))),
        BITS(kind, INT2(SHL, INT2(SUB, I(half), whole), I(23))),
        OP2(FADD, r, OP3(FMA, OP2(FMUL, r, square), POLYNOMIAL(square, sine), low)),
        OP2(FMUL, square, POLYNOMIAL(square, cosine)),
    };
}

value formula_sinh_f32(const struct formula *f, value x)
{
    enum ir_kind kind = IR_KIND_F32;
    struct parts p = parts_of(f, x);
    value s = OP2(FSUB, p.up, p.down), c = OP2(FADD, p.up, p.down);
    return OP2(COPYSIGN, OP3(FMA, s, p.cosine_rest, OP3(FMA, c, p.sine, s)), x);
}

value formula_cosh_f32(const struct formula *f, value x)
{
    enum ir_kind kind = IR_KIND_F32;
    struct parts p = parts_of(f, x);
    value s = OP2(FSUB, p.up, p.down), c = OP2(FADD, p.up, p.down);
    return OP2(FADD, p.up, OP2(FADD, p.down, OP3(FMA, s, p.sine, OP2(FMUL, c, p.cosine_rest))));
}

/* ---- tanh ---- */

/* 1 - 2 / (exp(2 |x|) + 1), from where that is more than a half; cut where it is 1. NaN stays. */
static value tanh_of_large(const struct formula *f, value a)
{
    enum ir_kind kind = IR_KIND_F32;
    static const double p[] = {1, 0.5, 0x1.55548ap-3, 0x1.5554dep-5, 0x1.123e4cp-7, 0x1.6d5858p-10};
    static const double ln4_high = 0x1.62e430p-2, ln4_low = -0x1.05c610p-30; /* of ln 2 / 2 */
    const uint32_t bits_of_whole = 0x4b400000, one = 127;
    value cut = RAW2(FMIN, C(9.1), a), sum = OP3(FMA, cut, C(2 * M_LOG2E), C(0x1.8p23));
    value n = OP1(FNEG, OP2(FSUB, sum, C(0x1.8p23))), whole = INT2(SUB, BITS(IR_KIND_I32, sum), I(bits_of_whole));
    value half = OP3(FMA, n, C(ln4_low), OP3(FMA, n, C(ln4_high), cut)), r = OP2(FADD, half, half);
    value power = BITS(kind, INT2(SHL, INT2(ADD, I(one), whole), I(23)));
    value above = OP3(FMA, OP2(FMUL, power, r), POLYNOMIAL(r, p), OP2(FADD, power, C(1)));
    return OP2(FSUB, C(1), OP2(FDIV, C(2), above));
}

value formula_tanh_f32(const struct formula *f, value x)
{
    enum ir_kind kind = IR_KIND_F32;
    static const double p[] = {-0x1.55554cp-2, 0x1.110d6cp-3, -0x1.b93276p-5, 0x1.598712p-6, -0x1.9cb126p-8};
    value a = OP1(FABS, x), square = OP2(FMUL, a, a);
    value small = OP3(FMA, OP2(FMUL, a, square), POLYNOMIAL(square, p), a);
    return OP2(COPYSIGN, SELECT(IS2(FOLT, a, C(0.55)), small, tanh_of_large(f, a)), x);
}

/* ---- hypotenuses ---- */

/* Multiplied with a power of 2 so that squares neither overflow nor lose digits. An infinity is more than a NaN. */
static value hypot_scaled(const struct formula *f, const value *args)
{
    enum ir_kind kind = args[0].kind;
    double power = kind == IR_KIND_F64 ? 0x1p700 : 0x1p100;
    value a = args[0], b = args[1], large = IS2(FOGT, RAW2(FMAX, a, b), C(1));
    value scale = SELECT(large, C(1 / power), C(power)), back = SELECT(large, C(power), C(1 / power));
    value x = OP2(FMUL, a, scale), y = OP2(FMUL, b, scale);
    value r = OP2(FMUL, OP1(SQRT, OP2(FADD, OP2(FMUL, x, x), OP2(FMUL, y, y))), back);
    return SELECT(IS2(OR, IS2(FOEQ, a, C(INFINITY)), IS2(FOEQ, b, C(INFINITY))), C(INFINITY), r);
}

value formula_hypot(const struct formula *f, enum ir_kind kind, value x, value y)
{
    double least = kind == IR_KIND_F64 ? 0x1p-900 : 0x1p-90, most = kind == IR_KIND_F64 ? 0x1p1023 : 0x1p127;
    value args[2] = {OP1(FABS, x), OP1(FABS, y)};
    value sum = OP2(FADD, OP2(FMUL, x, x), OP2(FMUL, y, y)), root = OP1(SQRT, sum);
    value outside = IS2(OR, IS2(FULT, sum, C(least)), IS2(FOGT, sum, C(most)));
    value zero = IS2(FOEQ, OP2(FADD, args[0], args[1]), C(0));
    return f->rarely(f, IS2(AND, outside, IS1(NOT, zero)), root, hypot_scaled, args);
}
