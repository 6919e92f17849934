/*
 * exp, log and erf of f32, written out: in place on vectors they take a fraction of the time of a call, which makes all
 * other vectors go through memory. Errors, measured over all floats: log 0.92 ulp (OpenCL allows 3), exp 1.05 (3), erf
 * 1.5 (16).
 */
#include "ir/formula/exp.h"

#include <math.h>

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

/* x = m * 2^n with m in [sqrt(1/2), sqrt(2)): log x = n ln 2 + log m, and log(1 + t) = t - t^2 / 2 + t^3 P(t). */
static value log_of_positive(const struct formula *f, value x)
{
    static const double p[] = {0x1.55554ap-2, -0x1.000220p-2, 0x1.99a596p-3, -0x1.54788ap-3,
                               0x1.226e50p-3, -0x1.0ce08ep-3, 0x1.07d0ccp-3, -0x1.41ed50p-4};
    const uint32_t root_half = 0x3f3504f3;
    value small = IS2(FOLT, x, C(0x1p-126));
    x = SELECT(small, OP2(FMUL, x, C(0x1p23)), x);
    value bits = INT2(SUB, BITS(IR_KIND_I32, x), I(root_half));
    value n = OP1(STOF, INT2(ASHR, bits, I(23)));
    n = SELECT(small, OP2(FSUB, n, C(23)), n);
    value m = BITS(kind, INT2(ADD, INT2(AND, bits, I(0x7fffff)), I(root_half)));
    value t = OP2(FSUB, m, C(1)), square = OP2(FMUL, t, t);
    value rest = OP2(FMUL, OP2(FMUL, t, square), polynomial(f, t, p, sizeof p / sizeof *p));
    rest = OP3(FMA, square, C(-0.5), rest);
    return OP3(FMA, n, C(ln2_high), OP2(FADD, t, OP3(FMA, n, C(ln2_low), rest)));
}

value formula_log_f32(const struct formula *f, value x)
{
    value before = INT2(SUB, BITS(IR_KIND_I32, x), I(1));
    value usual = IS2(ULT, before, I(0x7f7fffff)); /* positive and finite */
    value other = SELECT(IS2(FOGT, x, C(0)), x, C(NAN));
    other = SELECT(IS2(FOEQ, x, C(0)), C(-INFINITY), other);
    return SELECT(usual, log_of_positive(f, x), other);
}

/* x = n ln 2 + r: exp x = 2^n exp r, and exp r = 1 + r + r^2 P(r). */
value formula_exp_f32(const struct formula *f, value x)
{
    static const double p[] = {0x1p-1, 0x1.55548ep-3, 0x1.55545ep-5, 0x1.123b56p-7, 0x1.6db426p-10};
    /* Cut where the result is zero or infinite anyway; NaN stays. */
    x = RAW2(FMAX, C(-105), RAW2(FMIN, C(90), x));
    value n = OP1(RINT, OP2(FMUL, x, C(M_LOG2E)));
    value r = OP3(FMA, n, C(-ln2_low), OP3(FMA, n, C(-ln2_high), x));
    value rest = OP3(FMA, OP2(FMUL, r, r), polynomial(f, r, p, sizeof p / sizeof *p), r);
    return RAW2(SCALE, OP2(FADD, C(1), rest), n);
}

/* Up to 0.875, erf x = x + x P(x^2). Beyond, erf |x| = 1 - exp Q(|x|), where a relative error of the power hardly
 * shows. */
value formula_erf_f32(const struct formula *f, value x)
{
    static const double p[] = {0x1.06eba6p-3,  -0x1.812710p-2, 0x1.ce21d8p-4,
                               -0x1.b6fdfep-6, 0x1.4a07e8p-8,  -0x1.463becp-11};
    static const double q[] = {-0x1.2e6ae8p-13, -0x1.20bd5cp+0, -0x1.460d5ap-1, -0x1.ab0252p-4,
                               0x1.6eb0f8p-6,   -0x1.93f6e8p-9, 0x1.a339bcp-13};
    static const double power[] = {0x1.fffdc4p-2, 0x1.55543ep-3, 0x1.573b3cp-5, 0x1.126a8ap-7};
    value a = OP1(FABS, x);
    value near = OP3(FMA, x, polynomial(f, OP2(FMUL, x, x), p, sizeof p / sizeof *p), x);
    value cut = RAW2(FMIN, C(4), a); /* there it is 1; NaN stays */
    value h = polynomial(f, cut, q, sizeof q / sizeof *q);
    value n = OP1(RINT, OP2(FMUL, h, C(M_LOG2E))), r = OP3(FMA, n, C(-ln2_high), h);
    value rest = OP3(FMA, OP2(FMUL, r, r), polynomial(f, r, power, sizeof power / sizeof *power), r);
    value far = OP2(FSUB, C(1), RAW2(SCALE_NEAR, OP2(FADD, C(1), rest), n));
    return SELECT(IS2(FOLT, a, C(0.875)), near, OP2(COPYSIGN, far, x));
}
