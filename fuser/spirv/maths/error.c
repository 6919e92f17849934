/* The error functions in f64. */
#include "fuser/spirv/maths/elementary.h"
#include "fuser/spirv/maths/gamma.h"
#include "fuser/spirv/maths/series.h"

static const enum ir_kind kind = IR_KIND_F64;

/* erf x for |x| <= 1. */
static value near_zero(const struct formula *f, value x)
{
    static const double c[] = {0x1.20dd750429b6dp+0,   -0x1.812746b0379e6p-2,  0x1.ce2f21a042b30p-4,
                               -0x1.b82ce31284e00p-6,  0x1.565bcd0dbaa38p-8,   -0x1.c02db3dac435fp-11,
                               0x1.f9a321d5b8e1ep-14,  -0x1.f4d1e3183f7aep-17, 0x1.b9df224ca4b94p-20,
                               -0x1.5f1ecb6f0762fp-23, 0x1.f7b4bf3b13841p-27,  -0x1.389d4f26412d7p-30,
                               0x1.05ffd737faabap-34};
    return OP2(FMUL, x, spw_series(f, OP2(FMUL, x, x), c, sizeof c / sizeof *c));
}

/* erfc a for a >= 0, with t = 2 / (2 + a): t exp(P(2 t - 1) - a^2). The square is large where the result is small: what
   it leaves over counts. */
static value complement(const struct formula *f, value a)
{
    static const double p[] = {
        -0x1.57f564e956ebep-1,  0x1.5864b151b8571p-1,   0x1.83d61c52414bap-5,   -0x1.802b39089b2e8p-5,
        -0x1.43821ef9db63fp-7,  0x1.212cf33f5cd4cp-7,   0x1.cd18086599001p-10,  -0x1.3378680fa4265p-9,
        -0x1.32b3abb83bac4p-13, 0x1.6133a7d232301p-11,  -0x1.89278beddb185p-14, -0x1.6d8a9f64b22c3p-13,
        0x1.2b7c474a36a4ap-14,  0x1.0a53039da7707p-15,  -0x1.fa994b8322de9p-16, 0x1.172f5760a1842p-23,
        0x1.2009975240bbap-17,  -0x1.8a1ea8d547c05p-19, -0x1.6076f9596ba03p-20, 0x1.4d416a0e312b1p-20,
        -0x1.f67a06f2c2ce5p-24, -0x1.0daa67dc1c87dp-22, 0x1.df3d8437316c6p-24,  0x1.629208928eec9p-27,
        -0x1.4fe75acb758b5p-26, 0x1.22c6945451976p-28};
    value cut = RAW2(FMIN, C(30), a), t = OP2(FDIV, C(2), OP2(FADD, C(2), cut));
    value u = OP2(FSUB, OP2(FADD, t, t), C(1)), series = spw_series(f, u, p, sizeof p / sizeof *p);
    struct spw_pair square = spw_product(f, cut, cut), power = spw_sum(f, series, OP1(FNEG, square.high));
    return OP2(FMUL, t, spw_exp_of_sum(f, power.high, OP2(FSUB, power.low, square.low)));
}

value spw_erf(const struct formula *f, value x)
{
    value a = OP1(FABS, x), far = OP2(FSUB, C(1), complement(f, a));
    return SELECT(IS2(FOLT, a, C(1)), near_zero(f, x), OP2(COPYSIGN, far, x));
}

value spw_erfc(const struct formula *f, value x)
{
    value a = OP1(FABS, x), far = complement(f, a);
    far = SELECT(IS1(SIGNBIT, x), OP2(FSUB, C(2), far), far);
    return SELECT(IS2(FOLT, a, C(0.5)), OP2(FSUB, C(1), near_zero(f, x)), far);
}
