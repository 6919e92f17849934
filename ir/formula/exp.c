/*
 * exp, log and erf of f32, written out: in place on vectors they take a fraction of the time of a call, which makes all
 * other vectors go through memory. Errors, measured over all floats: log 0.93 ulp (OpenCL allows 3), exp 1.05 (3), erf
 * 2.5 (16).
 */
#include "ir/formula/exp.h"

#include <math.h>
#include <stddef.h>

#include "ir/formula/notation.h"

static const enum ir_kind kind = IR_KIND_F32;

static value polynomial(const struct formula *f, value x, const double *coefficients, unsigned n)
{
    value r = C(coefficients[n - 1]);
    for (unsigned i = n - 1; i-- > 0;) r = OP3(FMA, r, x, C(coefficients[i]));
    return r;
}

/* ln 2, and what the first float leaves of it. */
static const double ln2_high = 0x1.62e430p-1, ln2_low = -0x1.05c610p-29;

/* The nearest whole number; |x| is below 2^22, so that a sum with `whole` has no digits behind the point. GPUs have few
 * units that round, and as few that convert: sums are eight times as fast. */
static const double whole = 0x1.8p23;

/* Of a normal number x = m * 2^n with m in [sqrt(1/2), sqrt(2)): log x = n ln 2 + log m, and log(1 + t) = t + t^2 (t
 * P(t) - 1/2). Exponents stay where their bits are, as n * 2^23; more of them are added. */
static value log_of_normal(const struct formula *f, value x, const value *more)
{
    static const double p[] = {-0.5,          0x1.55554ap-2,  -0x1.000220p-2, 0x1.99a596p-3, -0x1.54788ap-3,
                               0x1.226e50p-3, -0x1.0ce08ep-3, 0x1.07d0ccp-3,  -0x1.41ed50p-4};
    const uint32_t root_half = 0x3f3504f3, exponent = 0xff800000;
    value bits = BITS(IR_KIND_I32, x), places = INT2(AND, INT2(SUB, bits, I(root_half)), I(exponent));
    value m = BITS(kind, INT2(SUB, bits, places)), n = OP1(STOF, places);
    if (more) n = OP2(FADD, n, *more);
    value t = OP2(FSUB, m, C(1)), square = OP2(FMUL, t, t);
    value low = OP3(FMA, n, C(ln2_low * 0x1p-23), t);
    low = OP3(FMA, square, polynomial(f, t, p, sizeof p / sizeof *p), low);
    return OP3(FMA, n, C(ln2_high * 0x1p-23), low);
}

/* Denormal, zero, negative, infinite or not a number. */
static value log_of_others(const struct formula *f, const value *args)
{
    value x = args[0], more = C(-23 * 0x1p23), small = log_of_normal(f, OP2(FMUL, x, C(0x1p23)), &more);
    value r = SELECT(IS2(FOLT, x, C(0x1p-126)), small, x);
    r = SELECT(IS2(FOGT, x, C(0)), r, C(NAN));
    return SELECT(IS2(FOEQ, x, C(0)), C(-INFINITY), r);
}

value formula_log_f32(const struct formula *f, value x)
{
    value above = INT2(SUB, BITS(IR_KIND_I32, x), I(0x00800000));
    value other = IS2(UGE, above, I(0x7f000000));
    return f->rarely(f, other, log_of_normal(f, x, NULL), log_of_others, &x);
}

/* x = n ln 2 + r: exp x = 2^n exp r, and exp r = 1 + r + r^2 P(r). */
value formula_exp_f32(const struct formula *f, value x)
{
    static const double p[] = {0x1p-1, 0x1.55548ep-3, 0x1.55545ep-5, 0x1.123b56p-7, 0x1.6db426p-10};
    /* Cut where the result is zero or infinite anyway; NaN stays. */
    x = RAW2(FMAX, C(-105), RAW2(FMIN, C(90), x));
    value n = OP2(FSUB, OP2(FADD, OP2(FMUL, x, C(M_LOG2E)), C(whole)), C(whole));
    value r = OP3(FMA, n, C(-ln2_low), OP3(FMA, n, C(-ln2_high), x));
    value rest = OP3(FMA, OP2(FMUL, r, r), polynomial(f, r, p, sizeof p / sizeof *p), r);
    return RAW2(SCALE, OP2(FADD, C(1), rest), n);
}

/* erf |x| = 1 - 2^h with h = |x| Q(|x|) = n + r, and 2^r = 1 + r P(r): what is next to 0 keeps its digits, as 1 - 2^n
 * is 0 there. */
value formula_erf_f32(const struct formula *f, value x)
{
    static const double q[] = {-0x1.a0be84p+0, -0x1.d63ebep-1, -0x1.2fad08p-3,  0x1.c4df2ap-6, 0x1.bfd17cp-13,
                               -0x1.38cbbep-9, 0x1.d936c4p-11, -0x1.5db932p-13, 0x1.b4e576p-17};
    static const double p[] = {0x1.62e430p-1, 0x1.ebfbd6p-3,  0x1.c6af7ap-5,
                               0x1.3b31a4p-7, 0x1.5f0982p-10, 0x1.3f2942p-13};
    value cut = RAW2(FMIN, C(4), OP1(FABS, x)); /* there it is 1; NaN stays */
    value h = OP2(FMUL, cut, polynomial(f, cut, q, sizeof q / sizeof *q));
    value n = OP2(FADD, h, C(whole)), r = OP2(FSUB, h, OP2(FSUB, n, C(whole)));
    value power = BITS(kind, INT2(ADD, INT2(SHL, BITS(IR_KIND_I32, n), I(23)), I(0x3f800000)));
    value rest = OP2(FMUL, r, polynomial(f, r, p, sizeof p / sizeof *p));
    return OP2(COPYSIGN, OP3(FMA, OP1(FNEG, power), rest, OP2(FSUB, C(1), power)), x);
}
