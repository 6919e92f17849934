/* The gamma function and its logarithm in f64. */
#include "fuser/spirv/maths/gamma.h"

#include <math.h>

#include "fuser/spirv/maths/elementary.h"
#include "fuser/spirv/maths/series.h"
#include "fuser/spirv/maths/trigonometric.h"

static const enum ir_kind kind = IR_KIND_F64;

/* Half the logarithm of 2 pi. */
static const double half_log = 0x1.d67f1c864beb5p-1;

/* ---- of positive numbers below STEPS ---- */

enum { STEPS = 8 };

struct near {
    value small;  /* x is below 1 */
    value log;    /* of gamma(x + 1) where it is small, else of gamma(x) / factor */
    value factor; /* 1 where it is small */
};

/* Between 1 and 3, log gamma z = (z - 1) (z - 2) Q(z - 2). Below, one is added; from 3 on as many are taken off as
   leave 2 to 3, and the function is what is left's times all of them. */
static struct near near_of(const struct formula *f, value x)
{
    static const double q[] = {
        0x1.b0ee6072093cep-2,   -0x1.9ae6509ea109fp-4,  0x1.0e0c9df2935cep-5,  -0x1.95ce223a9ccefp-7,
        0x1.479748539658fp-8,   -0x1.145121f98a3c7p-9,  0x1.dfebcf9e3a196p-11, -0x1.a96a401fda6e3p-12,
        0x1.7ed73069f642cp-13,  -0x1.5c86b33a29beep-14, 0x1.402f77c319948p-15, -0x1.2850b6e854fa0p-16,
        0x1.13dbddcd4c39ap-17,  -0x1.022884cee4d1cp-18, 0x1.e63dd1f85f36dp-20, -0x1.cac9f4fe75461p-21,
        0x1.a91686d709b7bp-22,  -0x1.936479fb90d55p-23, 0x1.bf8db5e3370b3p-24, -0x1.ac03e6dbc7a71p-25,
        0x1.962bc62d1ad27p-28,  -0x1.77288613f2f93p-29, 0x1.16378b8e864f2p-26, -0x1.0d77de0388b88p-27,
        -0x1.285a3a581e313p-28, 0x1.206dee4c78314p-29,  0x1.b0d6e555fc39fp-30, -0x1.a3f97b545db16p-31};
    struct near n = {.small = IS2(FOLT, x, C(1)), .factor = C(1)};
    value rest = x;
    for (unsigned i = 1; i < STEPS - 2; i++) {
        value less = OP2(FSUB, x, C(i)), takes = IS2(FOGE, less, C(2));
        rest = SELECT(takes, less, rest);
        n.factor = SELECT(takes, OP2(FMUL, n.factor, less), n.factor);
    }
    value from_one = SELECT(n.small, x, OP2(FSUB, rest, C(1)));
    value from_two = OP2(FSUB, SELECT(n.small, x, rest), SELECT(n.small, C(1), C(2)));
    n.log = OP2(FMUL, OP2(FMUL, from_one, from_two), spw_series(f, from_two, q, sizeof q / sizeof *q));
    return n;
}

/* ---- of others ---- */

/* What Stirling's formula leaves of the logarithm. */
static value stirling_end(const struct formula *f, value x)
{
    static const double c[] = {0x1.5555555555555p-4,   -0x1.6c16c16c16b29p-9, 0x1.a01a019ee0dbep-11,
                               -0x1.38137ec07011bp-11, 0x1.b94f6d65906bcp-11, -0x1.f5ff2fdc98ed9p-10,
                               0x1.96db405e60f7bp-8,   -0x1.55b3a70efc925p-6};
    value over = OP2(FDIV, C(1), x);
    return OP2(FMUL, over, spw_series(f, OP2(FMUL, over, over), c, sizeof c / sizeof *c));
}

static value far_log(const struct formula *f, value x)
{
    value main = OP2(FSUB, OP2(FMUL, OP2(FSUB, x, C(0.5)), OP2(FSUB, spw_log(f, x), C(1))), C(0.5));
    return OP2(FADD, main, OP2(FADD, C(half_log), stirling_end(f, x)));
}

/* The logarithm may be 700, so its last digits do not suffice. From 172 on the function is infinite. */
static value far_gamma(const struct formula *f, value x)
{
    x = RAW2(FMIN, C(200), x);
    value half = OP2(FSUB, x, C(0.5));
    struct spw_pair log = spw_log_pair(f, x), power = spw_product(f, half, log.high);
    struct spw_pair less = spw_sum(f, power.high, OP1(FNEG, x)), sum = spw_sum(f, less.high, C(half_log));
    value low = OP2(FADD, power.low, OP2(FMUL, half, log.low));
    low = OP2(FADD, OP2(FADD, low, OP2(FADD, less.low, sum.low)), stirling_end(f, x));
    return spw_exp_of_sum(f, sum.high, low);
}

/* Negative whole numbers. */
static value at_pole(const struct formula *f, value x)
{
    return IS2(AND, IS2(FOLT, x, C(0)), IS2(FOEQ, OP1(RINT, x), x));
}

/* gamma(-a) = -pi / (sin(pi a) gamma(a + 1)). */
value spw_tgamma(const struct formula *f, value x)
{
    value a = OP1(FABS, x), is_near = IS2(FOLT, a, C(STEPS)), negative = IS2(FOLT, x, C(0));
    struct near n = near_of(f, a);
    value close = OP2(FMUL, spw_exp(f, n.log), n.factor), r = SELECT(is_near, close, far_gamma(f, a));
    value next = SELECT(n.small, close, OP2(FMUL, r, a));
    r = SELECT(n.small, OP2(FDIV, close, a), r);
    r = SELECT(negative, OP2(FDIV, C(M_PI), OP2(FMUL, spw_sinpi(f, x), next)), r);
    r = SELECT(IS2(FOEQ, x, C(INFINITY)), x, SELECT(at_pole(f, x), C(NAN), r));
    return SELECT(IS2(FOEQ, x, C(0)), OP2(COPYSIGN, C(INFINITY), x), r);
}

/* Of a number next to 0 it is the logarithm of what that divides 1 into. */
value spw_lgamma(const struct formula *f, value x)
{
    value a = OP1(FABS, x), is_near = IS2(FOLT, a, C(STEPS)), negative = IS2(FOLT, x, C(0));
    struct near n = near_of(f, a);
    value log = spw_log(f, SELECT(n.small, a, n.factor));
    value own = SELECT(is_near, SELECT(n.small, OP2(FSUB, n.log, log), OP2(FADD, n.log, log)), far_log(f, a));
    value next = SELECT(n.small, n.log, OP2(FADD, own, spw_log(f, a)));
    value mirrored = OP2(FSUB, spw_log(f, OP2(FDIV, C(M_PI), OP1(FABS, spw_sinpi(f, x)))), next);
    value r = SELECT(negative, mirrored, own);
    r = SELECT(IS2(FOLT, a, C(0x1p-60)), OP1(FNEG, log), r);
    value infinite = IS2(OR, IS2(FOEQ, a, C(INFINITY)), IS2(OR, at_pole(f, x), IS2(FOEQ, x, C(0))));
    return SELECT(infinite, C(INFINITY), r);
}
