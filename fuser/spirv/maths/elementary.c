/* Exponents, logarithms, and what is made of them, in f64: series after a reduction. */
#include "fuser/spirv/maths/elementary.h"

#include <math.h>
#include <stddef.h>

#include "fuser/spirv/maths/exponent.h"
#include "fuser/spirv/maths/series.h"

static const enum ir_kind kind = IR_KIND_F64;

/* ln 2: its first 32 bits, and the rest. */
static const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

/* ---- exponents ---- */

/* x * 2^n for a whole n. */
static value scaled(const struct formula *f, value x, value n)
{
    return spw_scaled(f, x, LONG1(FTOS, n));
}

/* e^r - 1 - r for small r. */
static value exp_tail(const struct formula *f, value r)
{
    static const double c[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                               1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                               1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
    return OP2(FMUL, OP2(FMUL, r, r), spw_series(f, r, c, sizeof c / sizeof *c));
}

/* e^r * 2^n. */
static value exp_of_part(const struct formula *f, value r, value n)
{
    return scaled(f, OP2(FADD, C(1), OP2(FADD, r, exp_tail(f, r))), n);
}

/* Cut where the result is zero or infinite anyway; NaN stays. */
static value cut(const struct formula *f, value x, double low, double high)
{
    return RAW2(FMAX, C(low), RAW2(FMIN, C(high), x));
}

struct reduced {
    value n, r, rest; /* x - less = n ln 2 + r + rest; rest is below r's last place */
};

/* less is below a unit or so; NULL: 0. */
static struct reduced reduce(const struct formula *f, value x, const value *less)
{
    value n = OP1(RINT, OP2(FMUL, x, C(M_LOG2E)));
    value high = OP2(FSUB, x, OP2(FMUL, n, C(ln2_high))), low = OP2(FMUL, n, C(ln2_low));
    if (less) low = OP2(FADD, low, *less);
    value r = OP2(FSUB, high, low);
    return (struct reduced){n, r, OP2(FSUB, OP2(FSUB, high, r), low)};
}

static value exp_of_reduced(const struct formula *f, struct reduced e)
{
    value tail = OP2(FADD, exp_tail(f, e.r), e.rest);
    return scaled(f, OP2(FADD, C(1), OP2(FADD, e.r, tail)), e.n);
}

value spw_exp(const struct formula *f, value x)
{
    return exp_of_reduced(f, reduce(f, cut(f, x, -760, 720), NULL));
}

value spw_exp_of_sum(const struct formula *f, value x, value low)
{
    low = OP1(FNEG, low);
    return exp_of_reduced(f, reduce(f, cut(f, x, -760, 720), &low));
}

value spw_exp2(const struct formula *f, value x)
{
    x = cut(f, x, -1100, 1050);
    value n = OP1(RINT, x), r = OP2(FSUB, x, n);
    return exp_of_part(f, OP2(FMUL, r, C(M_LN2)), n);
}

/* log2(10) n splits off; ln 10 in two parts. */
value spw_exp10(const struct formula *f, value x)
{
    x = cut(f, x, -340, 320);
    value n = OP1(RINT, OP2(FMUL, x, C(0x1.a934f0979a371p+1)));
    value r = OP2(FSUB, x, OP2(FMUL, n, C(0x1.34413508p-2)));
    r = OP2(FSUB, r, OP2(FMUL, n, C(0x1.f79fef311f12bp-34)));
    return exp_of_part(f, OP2(FMUL, r, C(M_LN10)), n);
}

/* 2^n ((e^r - 1) + (1 - 2^-n)): what the sum leaves over is added with the end. Where 2^-n is not exact it shows
 * nowhere. */
value spw_expm1(const struct formula *f, value x)
{
    struct reduced e = reduce(f, cut(f, x, -60, 720), NULL);
    value whole = LONG1(FTOS, RAW2(FMIN, C(100), e.n));
    value one = OP2(FSUB, C(1), spw_power_of_two(f, LONG2(SUB, L(0), whole)));
    struct spw_pair sum = spw_ordered_sum(f, one, e.r);
    value tail = OP2(FADD, exp_tail(f, e.r), e.rest), r = OP2(FADD, sum.high, OP2(FADD, sum.low, tail));
    return SELECT(IS2(FOEQ, x, C(0)), x, scaled(f, r, e.n));
}

/* ---- logarithms ---- */

struct parts {
    value n, t; /* x = 2^n (1 + t), 1 + t in [sqrt(1/2), sqrt(2)) */
};

static struct parts parts_of(const struct formula *f, value x)
{
    const uint64_t root_half = 0x3fe6a09e00000000;
    value small = IS2(FOLT, x, C(0x1p-1022));
    x = SELECT(small, OP2(FMUL, x, C(0x1p54)), x);
    value bits = LONG2(SUB, BITS(IR_KIND_I64, x), L(root_half));
    value n = OP1(STOF, LONG2(ASHR, bits, L(52)));
    value m = BITS(kind, LONG2(ADD, LONG2(AND, bits, L(0xfffffffffffff)), L(root_half)));
    return (struct parts){SELECT(small, OP2(FSUB, n, C(54)), n), OP2(FSUB, m, C(1))};
}

/* log(1 + t) is 2 atanh s = 2 s (1 + z/3 + z^2/5 ...) with s = t / (2 + t) and z its square. This is what follows the
   first two, less 2 s z^2: to 2^-66 of the sum. */
static value log_end(const struct formula *f, value z)
{
    static const double c[] = {0x1.999999999999ap-2, 0x1.2492492492521p-2, 0x1.c71c71c6eaa0fp-3, 0x1.745d177a96121p-3,
                               0x1.3b1395d214ee2p-3, 0x1.1118c7e567c04p-3, 0x1.df7cc8c58da7dp-4, 0x1.e02e7124fc7c8p-4};
    return spw_series(f, z, c, sizeof c / sizeof *c);
}

/* log(1 + t) = 2 s + s R is t - less with less = s (t - R): t is exact. */
struct log_parts {
    value n, t, less; /* n ln 2 + t - less */
};

static struct log_parts log_parts_of(const struct formula *f, value x)
{
    struct parts p = parts_of(f, x);
    value s = OP2(FDIV, p.t, OP2(FADD, C(2), p.t)), z = OP2(FMUL, s, s);
    value r = OP2(FMUL, z, OP2(FADD, C(2.0 / 3), OP2(FMUL, z, log_end(f, z))));
    return (struct log_parts){p.n, p.t, OP2(FMUL, s, OP2(FSUB, p.t, r))};
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
    struct log_parts p = log_parts_of(f, x);
    value less = OP2(FSUB, p.less, OP2(FMUL, p.n, C(ln2_low)));
    return log_corners(f, x, OP2(FADD, OP2(FMUL, p.n, C(ln2_high)), OP2(FSUB, p.t, less)));
}

struct spw_pair spw_log_pair(const struct formula *f, value x)
{
    struct parts p = parts_of(f, x);
    struct spw_pair s = spw_pair_quotient(f, p.t, spw_ordered_sum(f, C(2), p.t)), z = spw_pair_times(f, s, s);
    const struct spw_pair two_thirds = {C(0x1.5555555555555p-1), C(0x1.5555555555555p-55)};
    struct spw_pair second = spw_pair_times(f, spw_pair_times(f, s, z), two_thirds);
    value end = OP2(FMUL, OP2(FMUL, s.high, OP2(FMUL, z.high, z.high)), log_end(f, z.high));
    struct spw_pair two = spw_ordered_sum(f, OP2(FMUL, C(2), s.high), second.high);
    value low = OP2(FADD, two.low, OP2(FADD, OP2(FMUL, C(2), s.low), OP2(FADD, second.low, end)));
    struct spw_pair all = spw_ordered_sum(f, OP2(FMUL, p.n, C(ln2_high)), two.high);
    low = OP2(FADD, OP2(FADD, all.low, low), OP2(FMUL, p.n, C(ln2_low)));
    return spw_ordered_sum(f, all.high, low);
}

/* In other bases; exact for powers of two. */
static value log_by(const struct formula *f, value x, double unit, double of_two)
{
    struct log_parts p = log_parts_of(f, x);
    value m = OP2(FSUB, p.t, p.less);
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
    struct log_parts p = log_parts_of(f, sum);
    value more = OP2(FADD, OP2(FMUL, p.n, C(ln2_low)), OP2(FDIV, lost, sum));
    value r = OP2(FADD, OP2(FMUL, p.n, C(ln2_high)), OP2(FSUB, p.t, OP2(FSUB, p.less, more)));
    return SELECT(IS2(FOLT, OP1(FABS, x), C(0x1p-54)), x, log_corners(f, sum, r));
}

/* ---- hyperbolic functions ---- */

value spw_sinh(const struct formula *f, value x)
{
    value e = spw_expm1(f, OP1(FABS, x)), r = OP2(FMUL, C(0.5), OP2(FADD, e, OP2(FDIV, e, OP2(FADD, e, C(1)))));
    return OP2(COPYSIGN, r, x);
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
