/*
 * exp, log and erf of f32, written out: in place on vectors they take a fraction of the time of a call, which makes all
 * other vectors go through memory. Errors, measured over all floats: log 1.2 ulp (OpenCL allows 3), exp 1.6 (3), erf
 * 3.9 (16). Each step counts: GPUs wait for these where they could move memory.
 */
#include "ir/formula/exp.h"

#include <math.h>
#include <stddef.h>

#include "ir/formula/notation.h"
#include "ir/formula/polynomial.h"

static const enum ir_kind kind = IR_KIND_F32;

/* ln 2, and what the first float leaves of it. */
static const double ln2_high = 0x1.62e430p-1, ln2_low = -0x1.05c610p-29;

/* Of a normal number x = m * 2^n with m in [sqrt(1/2), sqrt(2)): log x = n ln 2 + log m, and log(1 + t) = t + t^2 P(t).
 * Exponents stay where their bits are, as n * 2^23; more of them are added. What the first float leaves of ln 2 is less
 * than a tenth of a unit here, as log m is at most half of n ln 2. */
static value log_of_normal(const struct formula *f, value x, const value *more)
{
    static const double p[] = {-0.5,           0x1.555698p-2, -0x1.0003b0p-2, 0x1.98ec24p-3,
                               -0x1.538232p-3, 0x1.30ab34p-3, -0x1.23ea68p-3, 0x1.67d3bep-4};
    const uint32_t root_half = 0x3f3504f3, exponent = 0xff800000;
    value bits = BITS(IR_KIND_I32, x), places = INT2(AND, INT2(SUB, bits, I(root_half)), I(exponent));
    value m = BITS(kind, INT2(SUB, bits, places)), n = OP1(STOF, places);
    if (more) n = OP2(FADD, n, *more);
    value t = OP2(FSUB, m, C(1)), square = OP2(FMUL, t, t);
    value low = OP3(FMA, square, POLYNOMIAL(t, p), t);
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

/* x = n ln 2 + r with an even n: exp x = 2^(n/2) exp r 2^(n/2). A sum with 1.5 * 2^24 has no digits below 2, so it
 * rounds to n, and n / 2 is in its last bits. GPUs have few units that round, and as few that convert: sums are eight
 * times as fast. */
value formula_exp_f32(const struct formula *f, value x)
{
    static const double p[] = {
        1, 1, 0x1.00000cp-1, 0x1.555514p-3, 0x1.5549eep-5, 0x1.1126e4p-7, 0x1.71bf90p-10, 0x1.9baa6ap-13};
    static const double whole = 0x1.8p24;
    const uint32_t bits_of_whole = 0x4bc00000, most = 65;
    /* Cut where the result is zero anyway; NaN stays. What is too large is so by r, of the largest n. */
    value cut = RAW2(FMAX, C(-105), x), sum = OP3(FMA, cut, C(M_LOG2E), C(whole));
    sum = BITS(kind, INT2(SMIN, BITS(IR_KIND_I32, sum), I(bits_of_whole + most)));
    value n = OP2(FSUB, sum, C(whole)), r = OP3(FMA, n, C(-ln2_low), OP3(FMA, n, C(-ln2_high), cut));
    return RAW3(SCALE, POLYNOMIAL(r, p), n, sum);
}

/* 1 - erf is the fourth power of 1 - y/4, where y = |x| P(|x|): a polynomial is near to that sooner than to erf. With y
 * = 1 - (1 - y/4)^k in these steps what is next to 0 keeps its digits. */
value formula_erf_f32(const struct formula *f, value x)
{
    static const double p[] = {0x1.20dd74p+0, 0x1.e8eda6p-2,   -0x1.fb0e16p-5,  -0x1.305a52p-4, 0x1.25bb50p-8,
                               0x1.0d1776p-7, -0x1.1e8230p-10, -0x1.d4366ap-12, 0x1.11595cp-13, -0x1.4e2868p-17};
    value cut = RAW2(FMIN, C(3.8332), OP1(FABS, x)); /* there it is 1; NaN stays */
    value y = OP2(FMUL, cut, POLYNOMIAL(cut, p));
    y = OP3(FMA, OP2(FMUL, y, C(-0.125)), y, y);
    y = OP3(FMA, OP2(FMUL, y, C(-0.25)), y, y);
    value sign = INT2(AND, BITS(IR_KIND_I32, x), I(0x80000000));
    return BITS(kind, INT2(OR, BITS(IR_KIND_I32, y), sign));
}
