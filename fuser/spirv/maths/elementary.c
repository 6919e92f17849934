/* Exponents, logarithms, and what is made of them, in f64: series after a reduction. */
#include "fuser/spirv/maths/elementary.h"

#include <math.h>

#include "fuser/spirv/maths/series.h"

static const enum ir_kind kind = IR_KIND_F64;

/* ln 2: its first 32 bits, and the rest. */
static const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

/* ---- exponents ---- */

/* 2^n for a whole n from -1022 to 1023. */
static value power_of_two(const struct formula *f, value n)
{
    value exponent = formula_op(f, IR_OP_ADD, IR_KIND_I64, 2, (value[]){n, L(1023)});
    return BITS(kind, formula_op(f, IR_OP_SHL, IR_KIND_I64, 2, (value[]){exponent, L(52)}));
}

/* x * 2^n for a whole n of at most 2000, in two steps, of which the last alone rounds. */
static value scaled(const struct formula *f, value x, value n)
{
    value whole = formula_op(f, IR_OP_FTOS, IR_KIND_I64, 1, &n);
    value half = formula_op(f, IR_OP_ASHR, IR_KIND_I64, 2, (value[]){whole, L(1)});
    value rest = formula_op(f, IR_OP_SUB, IR_KIND_I64, 2, (value[]){whole, half});
    return OP2(FMUL, OP2(FMUL, x, power_of_two(f, half)), power_of_two(f, rest));
}

/* e^(r + rest) * 2^n for small r. */
static value exp_of_parts(const struct formula *f, value r, value rest, value n)
{
    static const double c[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                               1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                               1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
    value tail = OP2(FMUL, OP2(FMUL, r, r), spw_series(f, r, c, sizeof c / sizeof *c));
    return scaled(f, OP2(FADD, C(1), OP2(FADD, r, OP2(FADD, tail, rest))), n);
}

/* Cut where the result is zero or infinite anyway; NaN stays. */
static value cut(const struct formula *f, value x, double low, double high)
{
    return RAW2(FMAX, C(low), RAW2(FMIN, C(high), x));
}

value spw_exp(const struct formula *f, value x)
{
    x = cut(f, x, -760, 720);
    value n = OP1(RINT, OP2(FMUL, x, C(M_LOG2E)));
    value r = OP2(FSUB, x, OP2(FMUL, n, C(ln2_high))), low = OP2(FMUL, n, C(ln2_low));
    value both = OP2(FSUB, r, low), rest = OP2(FSUB, OP2(FSUB, r, both), low);
    return exp_of_parts(f, both, rest, n);
}

value spw_exp2(const struct formula *f, value x)
{
    x = cut(f, x, -1100, 1050);
    value n = OP1(RINT, x), r = OP2(FSUB, x, n);
    return exp_of_parts(f, OP2(FMUL, r, C(M_LN2)), C(0), n);
}

/* log2(10) n splits off; ln 10 in two parts. */
value spw_exp10(const struct formula *f, value x)
{
    x = cut(f, x, -340, 320);
    value n = OP1(RINT, OP2(FMUL, x, C(0x1.a934f0979a371p+1)));
    value r = OP2(FSUB, x, OP2(FMUL, n, C(0x1.34413508p-2)));
    r = OP2(FSUB, r, OP2(FMUL, n, C(0x1.f79fef311f12bp-34)));
    return exp_of_parts(f, OP2(FMUL, r, C(M_LN10)), C(0), n);
}

value spw_expm1(const struct formula *f, value x)
{
    static const double c[] = {1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720};
    value near = OP2(FMUL, x, spw_series(f, x, c, sizeof c / sizeof *c));
    value is_near = IS2(FOLT, OP1(FABS, x), C(0x1p-8));
    return SELECT(is_near, near, OP2(FSUB, spw_exp(f, x), C(1)));
}

/* ---- logarithms ---- */

struct parts {
    value n, s; /* x = 2^n m, m in [sqrt(1/2), sqrt(2)), and s = (m - 1) / (m + 1): log m = 2 atanh s */
};

static struct parts parts_of(const struct formula *f, value x)
{
    const uint64_t root_half = 0x3fe6a09e00000000;
    value small = IS2(FOLT, x, C(0x1p-1022));
    x = SELECT(small, OP2(FMUL, x, C(0x1p54)), x);
    value bits = formula_op(f, IR_OP_SUB, IR_KIND_I64, 2, (value[]){BITS(IR_KIND_I64, x), L(root_half)});
    value n = OP1(STOF, formula_op(f, IR_OP_ASHR, IR_KIND_I64, 2, (value[]){bits, L(52)}));
    value low = formula_op(f, IR_OP_AND, IR_KIND_I64, 2, (value[]){bits, L(0xfffffffffffff)});
    value m = BITS(kind, formula_op(f, IR_OP_ADD, IR_KIND_I64, 2, (value[]){low, L(root_half)}));
    value t = OP2(FSUB, m, C(1));
    return (struct parts){SELECT(small, OP2(FSUB, n, C(54)), n), OP2(FDIV, t, OP2(FADD, C(2), t))};
}

/* log m less 2 s. */
static value log_tail(const struct formula *f, value s)
{
    static const double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                               2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
    value z = OP2(FMUL, s, s);
    return OP2(FMUL, OP2(FMUL, s, z), spw_series(f, z, c, sizeof c / sizeof *c));
}

/* Outside of the positive and finite numbers. */
static value log_corners(const struct formula *f, value x, value r)
{
    r = SELECT(IS2(FOLT, x, C(INFINITY)), r, x);
    r = SELECT(IS2(FOEQ, x, C(0)), C(-INFINITY), r);
    return SELECT(IS2(FOLT, x, C(0)), C(NAN), r);
}

value spw_log(const struct formula *f, value x)
{
    struct parts p = parts_of(f, x);
    value tail = OP2(FADD, log_tail(f, p.s), OP2(FMUL, p.n, C(ln2_low)));
    value r = OP2(FADD, OP2(FMUL, p.n, C(ln2_high)), OP2(FADD, OP2(FMUL, C(2), p.s), tail));
    return log_corners(f, x, r);
}

/* In other bases; exact for powers of two. */
static value log_by(const struct formula *f, value x, double unit, double of_two)
{
    struct parts p = parts_of(f, x);
    value m = OP2(FADD, OP2(FMUL, C(2), p.s), log_tail(f, p.s));
    return log_corners(f, x, OP2(FADD, OP2(FMUL, p.n, C(of_two)), OP2(FMUL, m, C(unit))));
}

value spw_log2(const struct formula *f, value x)
{
    return log_by(f, x, M_LOG2E, 1);
}

value spw_log10(const struct formula *f, value x)
{
    return log_by(f, x, M_LOG10E, 0x1.34413509f79ffp-2);
}

/* What adding 1 cut off comes back as a correction. */
value spw_log1p(const struct formula *f, value x)
{
    value sum = OP2(FADD, C(1), x), lost = OP2(FSUB, x, OP2(FSUB, sum, C(1)));
    value r = OP2(FADD, spw_log(f, sum), OP2(FDIV, lost, sum));
    value near = IS2(FOLT, OP1(FABS, x), C(0x1p-54)), usual = IS2(FOLT, OP1(FABS, sum), C(INFINITY));
    r = SELECT(usual, r, spw_log(f, sum));
    return SELECT(near, x, SELECT(IS2(FOEQ, sum, C(0)), C(-INFINITY), r));
}

/* ---- powers ---- */

static value is_whole(const struct formula *f, value y)
{
    return IS2(FOEQ, OP1(RINT, y), y);
}

value spw_pow(const struct formula *f, value x, value y)
{
    value size = OP1(FABS, x), r = spw_exp(f, OP2(FMUL, y, spw_log(f, size)));
    value half = OP2(FMUL, y, C(0.5)), odd = IS2(AND, is_whole(f, y), IS1(NOT, is_whole(f, half)));
    r = SELECT(IS2(FOEQ, size, C(1)), C(1), r);
    r = SELECT(IS2(AND, odd, IS1(SIGNBIT, x)), OP1(FNEG, r), r);
    value root = IS2(AND, IS2(FOLT, x, C(0)), IS1(NOT, is_whole(f, y)));
    root = IS2(AND, root, IS2(FOLT, size, C(INFINITY)));
    r = SELECT(root, C(NAN), r);
    r = SELECT(IS2(FUNO, x, y), C(NAN), r);
    return SELECT(IS2(OR, IS2(FOEQ, y, C(0)), IS2(FOEQ, x, C(1))), C(1), r);
}

/* One step of Newton's takes away what the logarithm lost; where its cubes would vanish the number is scaled. */
value spw_cbrt(const struct formula *f, value x)
{
    value size = OP1(FABS, x), usual = IS2(AND, IS2(FOGT, size, C(0)), IS2(FOLT, size, C(INFINITY)));
    value small = IS2(FOLT, size, C(0x1p-900));
    size = SELECT(small, OP2(FMUL, size, C(0x1p162)), size);
    value r = spw_exp(f, OP2(FDIV, spw_log(f, size), C(3))), square = OP2(FMUL, r, r);
    value error = OP2(FSUB, OP2(FMUL, square, r), size);
    r = OP2(FSUB, r, OP2(FDIV, error, OP2(FMUL, C(3), square)));
    r = SELECT(small, OP2(FMUL, r, C(0x1p-54)), r);
    return SELECT(usual, OP2(COPYSIGN, r, x), x);
}

value spw_hypot(const struct formula *f, value x, value y)
{
    value a = OP1(FABS, x), b = OP1(FABS, y);
    value r = OP1(SQRT, OP2(FADD, OP2(FMUL, a, a), OP2(FMUL, b, b)));
    value infinite = IS2(OR, IS2(FOEQ, a, C(INFINITY)), IS2(FOEQ, b, C(INFINITY)));
    return SELECT(infinite, C(INFINITY), r);
}

/* ---- hyperbolic functions ---- */

value spw_sinh(const struct formula *f, value x)
{
    static const double c[] = {1, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880};
    value e = spw_exp(f, x), r = OP2(FMUL, C(0.5), OP2(FSUB, e, OP2(FDIV, C(1), e)));
    value near = OP2(FMUL, x, spw_series(f, OP2(FMUL, x, x), c, sizeof c / sizeof *c));
    return SELECT(IS2(FOLT, OP1(FABS, x), C(0.25)), near, r);
}

value spw_cosh(const struct formula *f, value x)
{
    value e = spw_exp(f, OP1(FABS, x));
    return OP2(FMUL, C(0.5), OP2(FADD, e, OP2(FDIV, C(1), e)));
}

value spw_tanh(const struct formula *f, value x)
{
    value size = RAW2(FMIN, C(40), OP1(FABS, x)), e = spw_expm1(f, OP2(FMUL, C(2), size));
    value r = OP2(FDIV, e, OP2(FADD, e, C(2)));
    return SELECT(IS2(FUNO, x, x), x, OP2(COPYSIGN, r, x));
}

value spw_asinh(const struct formula *f, value x)
{
    value a = OP1(FABS, x), square = OP2(FMUL, a, a), root = OP1(SQRT, OP2(FADD, square, C(1)));
    value more = OP2(FADD, a, OP2(FDIV, square, OP2(FADD, C(1), root)));
    return OP2(COPYSIGN, spw_log1p(f, more), x);
}

value spw_acosh(const struct formula *f, value x)
{
    value t = OP2(FSUB, x, C(1)), root = OP1(SQRT, OP2(FMUL, t, OP2(FADD, t, C(2))));
    return SELECT(IS2(FOGE, x, C(1)), spw_log1p(f, OP2(FADD, t, root)), C(NAN));
}

value spw_atanh(const struct formula *f, value x)
{
    value a = OP1(FABS, x), ratio = OP2(FDIV, OP2(FADD, a, a), OP2(FSUB, C(1), a));
    value r = OP2(FMUL, C(0.5), spw_log1p(f, ratio));
    r = SELECT(IS2(FOGT, a, C(1)), C(NAN), SELECT(IS2(FOEQ, a, C(1)), C(INFINITY), r));
    return OP2(COPYSIGN, r, x);
}
