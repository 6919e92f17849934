/* The gamma function and the complementary error function in f64. */
#include "fuser/spirv/maths/gamma.h"

#include <math.h>

#include "fuser/spirv/maths/elementary.h"
#include "fuser/spirv/maths/series.h"
#include "fuser/spirv/maths/trigonometric.h"

static const enum ir_kind kind = IR_KIND_F64;

/* For x >= 0, with t = 2 / (2 + x): erfc x = t exp(P(2 t - 1) - x^2), P fitted to 5e-15. */
value spw_erfc(const struct formula *f, value x)
{
    static const double p[] = {
        -0x1.57f564e956ebap-1,  0x1.5864b151b855fp-1,   0x1.83d61c5239be2p-5,   -0x1.802b3908801d1p-5,
        -0x1.43821ef422486p-7,  0x1.212cf3317fe4fp-7,   0x1.cd18056d97533p-10,  -0x1.3378651b06500p-9,
        -0x1.32b2dda5c000ap-13, 0x1.613351896b996p-11,  -0x1.8930169b33323p-14, -0x1.6d84a9379ccc4p-13,
        0x1.2b9a333fffff2p-14,  0x1.0a0e42cc3332ap-15,  -0x1.fbb87b7ffffe2p-16, 0x1.9e6bccccccba4p-23,
        0x1.23c2abfffffecp-17,  -0x1.95c0a1fffffdep-19, -0x1.8221a6666664cp-20, 0x1.63bcfccccccafp-20,
        -0x1.a9666666665f3p-26, -0x1.48d3333333318p-22, 0x1.3466666666646p-24,  0x1.18cccccccccb2p-25,
        -0x1.999999999996fp-27};
    value a = OP1(FABS, x), cut = RAW2(FMIN, C(30), a);
    value t = OP2(FDIV, C(2), OP2(FADD, C(2), cut)), u = OP2(FSUB, OP2(FADD, t, t), C(1));
    value power = OP2(FSUB, spw_series(f, u, p, sizeof p / sizeof *p), OP2(FMUL, cut, cut));
    value r = OP2(FMUL, t, spw_exp(f, power));
    return SELECT(IS1(SIGNBIT, x), OP2(FSUB, C(2), r), r);
}

/* ---- the gamma function ---- */

enum { STEPS = 8 };

/* Below STEPS the argument goes up by as many: by what the function is divided there. */
static value steps_of(const struct formula *f, value x, value small)
{
    value product = x;
    for (unsigned i = 1; i < STEPS; i++) product = OP2(FMUL, product, OP2(FADD, x, C(i)));
    return SELECT(small, product, C(1));
}

/* The logarithm for z >= STEPS: Stirling's series. */
static value stirling(const struct formula *f, value z)
{
    static const double c[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360};
    value over = OP2(FDIV, C(1), z), tail = OP2(FMUL, over, spw_series(f, OP2(FMUL, over, over), c, 6));
    value main = OP2(FSUB, OP2(FMUL, OP2(FSUB, z, C(0.5)), OP2(FSUB, spw_log(f, z), C(1))), C(0.5));
    return OP2(FADD, main, OP2(FADD, C(0x1.d67f1c864beb5p-1), tail)); /* log(2 pi) / 2 */
}

/* The gamma function is that of a number of at least 1/2, or what mirrors it: pi / (sin(pi x) gamma(1 - x)). */
struct mirrored {
    value mirrors, y; /* y is at least 1/2 */
    value steps, log; /* gamma y = exp log / steps */
};

static struct mirrored mirrored(const struct formula *f, value x)
{
    struct mirrored m = {.mirrors = IS2(FOLT, x, C(0.5))};
    m.y = SELECT(m.mirrors, OP2(FSUB, C(1), x), x);
    value small = IS2(FOLT, m.y, C(STEPS));
    m.steps = steps_of(f, m.y, small);
    m.log = stirling(f, SELECT(small, OP2(FADD, m.y, C(STEPS)), m.y));
    return m;
}

/* No number, and poles but for zero. */
static value at_pole(const struct formula *f, value x)
{
    return IS2(AND, IS2(FOLT, x, C(0)), IS2(FOEQ, OP1(RINT, x), x));
}

value spw_tgamma(const struct formula *f, value x)
{
    struct mirrored m = mirrored(f, x);
    value r = OP2(FDIV, spw_exp(f, m.log), m.steps);
    r = SELECT(m.mirrors, OP2(FDIV, C(M_PI), OP2(FMUL, spw_sinpi(f, x), r)), r);
    r = SELECT(IS2(FOEQ, x, C(INFINITY)), x, SELECT(at_pole(f, x), C(NAN), r));
    return SELECT(IS2(FOEQ, x, C(0)), OP2(COPYSIGN, C(INFINITY), x), r);
}

value spw_lgamma(const struct formula *f, value x)
{
    struct mirrored m = mirrored(f, x);
    value r = OP2(FSUB, m.log, spw_log(f, m.steps));
    value sine = OP1(FABS, spw_sinpi(f, x));
    r = SELECT(m.mirrors, OP2(FSUB, spw_log(f, OP2(FDIV, C(M_PI), sine)), r), r);
    value infinite = IS2(OR, IS2(FOEQ, OP1(FABS, x), C(INFINITY)), IS2(OR, at_pole(f, x), IS2(FOEQ, x, C(0))));
    value near = IS2(OR, IS2(FOEQ, x, C(1)), IS2(FOEQ, x, C(2)));
    return SELECT(infinite, C(INFINITY), SELECT(near, C(0), r));
}
