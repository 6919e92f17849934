/* Sines and arcs in f64: of an angle between -pi/4 and pi/4, of a ratio below the tangent of pi/8. */
#include "fuser/spirv/maths/trigonometric.h"

#include <math.h>

#include "fuser/spirv/maths/angle.h"
#include "fuser/spirv/maths/series.h"

static const enum ir_kind kind = IR_KIND_F64;

/* ---- sines ---- */

/* low is half a unit of rest's last place at most. */
static value sine(const struct formula *f, struct spw_angle a)
{
    static const double c[] = {-0x1.5555555555555p-3, 0x1.1111111111110p-7,   -0x1.a01a01a01992fp-13,
                               0x1.71de3a545f836p-19, -0x1.ae645410e937bp-26, 0x1.61217d9252c03p-33,
                               -0x1.ab16f5caa192ap-41};
    value r = a.rest, z = OP2(FMUL, r, r);
    value tail = OP2(FMUL, OP2(FMUL, r, z), spw_series(f, z, c, sizeof c / sizeof *c));
    return OP2(FADD, r, a.has_low ? OP2(FADD, tail, a.low) : tail);
}

static value cosine(const struct formula *f, struct spw_angle a)
{
    static const double c[] = {-0.5,
                               0x1.5555555555555p-5,
                               -0x1.6c16c16c16963p-10,
                               0x1.a01a019f4ddfdp-16,
                               -0x1.27e4fa16cc2d1p-22,
                               0x1.1eeb67d026ec6p-29,
                               -0x1.907cd8ff5ed8fp-37};
    value r = a.rest, z = OP2(FMUL, r, r), tail = OP2(FMUL, z, spw_series(f, z, c, sizeof c / sizeof *c));
    return OP2(FADD, C(1), a.has_low ? OP2(FSUB, tail, OP2(FMUL, r, a.low)) : tail);
}

static value quarter_bit(const struct formula *f, value quarter, uint64_t bit)
{
    return formula_op(f, IR_OP_INE, IR_KIND_BOOL, 2, (value[]){LONG2(AND, quarter, L(bit)), L(0)});
}

/* The sine of an angle, so many quarter turns on. */
static value sine_of(const struct formula *f, struct spw_angle a, unsigned on)
{
    value quarter = on ? LONG2(ADD, a.quarter, L(on)) : a.quarter;
    value r = SELECT(quarter_bit(f, quarter, 1), cosine(f, a), sine(f, a));
    return SELECT(quarter_bit(f, quarter, 2), OP1(FNEG, r), r);
}

static value tangent_of(const struct formula *f, struct spw_angle a)
{
    value s = sine(f, a), c = cosine(f, a), odd = quarter_bit(f, a.quarter, 1);
    return OP2(FDIV, SELECT(odd, OP1(FNEG, c), s), SELECT(odd, s, c));
}

enum { SINE, COSINE, TANGENT };

static value of_angle(const struct formula *f, unsigned which, struct spw_angle a)
{
    return which == TANGENT ? tangent_of(f, a) : sine_of(f, a, which);
}

static value large_sine(const struct formula *f, const value *args)
{
    return of_angle(f, SINE, spw_large_angle(f, args[0]));
}

static value large_cosine(const struct formula *f, const value *args)
{
    return of_angle(f, COSINE, spw_large_angle(f, args[0]));
}

static value large_tangent(const struct formula *f, const value *args)
{
    return of_angle(f, TANGENT, spw_large_angle(f, args[0]));
}

/* A zero keeps its sign. */
static value of_any(const struct formula *f, unsigned which, value x, bool all_digits)
{
    static formula_other *const others[] = {large_sine, large_cosine, large_tangent};
    value large = IS2(FOGE, OP1(FABS, x), C(all_digits ? SPW_ANGLE_USUAL : SPW_ANGLE_F32_USUAL));
    value safe = SELECT(large, C(0), x);
    struct spw_angle a = all_digits ? spw_angle(f, safe) : spw_angle_f32(f, safe);
    value r = f->rarely(f, large, of_angle(f, which, a), others[which], &x);
    r = SELECT(IS2(FOLT, OP1(FABS, x), C(INFINITY)), r, C(NAN));
    return which == COSINE ? r : SELECT(IS2(FOEQ, x, C(0)), x, r);
}

value spw_sin(const struct formula *f, value x)
{
    return of_any(f, SINE, x, true);
}

value spw_sin_f32(const struct formula *f, value x)
{
    return of_any(f, SINE, x, false);
}

value spw_cos(const struct formula *f, value x)
{
    return of_any(f, COSINE, x, true);
}

value spw_cos_f32(const struct formula *f, value x)
{
    return of_any(f, COSINE, x, false);
}

value spw_tan(const struct formula *f, value x)
{
    return of_any(f, TANGENT, x, true);
}

value spw_tan_f32(const struct formula *f, value x)
{
    return of_any(f, TANGENT, x, false);
}

value spw_sinpi(const struct formula *f, value x)
{
    return of_angle(f, SINE, spw_angle_of_turns(f, x));
}

value spw_cospi(const struct formula *f, value x)
{
    return of_angle(f, COSINE, spw_angle_of_turns(f, x));
}

/* ---- arcs ---- */

/* pi/2 and pi less r, with what the f64 next to them leaves over. */
static value quarter_less(const struct formula *f, value r)
{
    return OP2(FSUB, C(M_PI_2), OP2(FSUB, r, C(0x1.1a62633145c07p-54)));
}

static value half_less(const struct formula *f, value r)
{
    return OP2(FSUB, C(M_PI), OP2(FSUB, r, C(0x1.1a62633145c07p-53)));
}

/* Of a ratio from 0 to 1. */
static value arc(const struct formula *f, value a)
{
    static const double c[] = {-0x1.5555555555555p-2, 0x1.9999999999953p-3,  -0x1.249249248d7eep-3,
                               0x1.c71c71c304b68p-4,  -0x1.745d165df3f95p-4, 0x1.3b1392d9e785bp-4,
                               -0x1.110e880a7a517p-4, 0x1.e19a13b9fc617p-5,  -0x1.ac7a938b69780p-5,
                               0x1.74ddd408ba007p-5,  -0x1.1b33b923a7919p-5, 0x1.0ad36a455695cp-6};
    value beyond = IS2(FOGT, a, C(M_SQRT2 - 1));
    value t = SELECT(beyond, OP2(FDIV, OP2(FSUB, a, C(1)), OP2(FADD, a, C(1))), a), z = OP2(FMUL, t, t);
    value r = OP2(FADD, t, OP2(FMUL, OP2(FMUL, t, z), spw_series(f, z, c, sizeof c / sizeof *c)));
    return SELECT(beyond, OP2(FADD, C(M_PI_4), OP2(FADD, r, C(0x1.1a62633145c07p-55))), r);
}

value spw_atan(const struct formula *f, value x)
{
    value a = OP1(FABS, x), steep = IS2(FOGT, a, C(1)), r = arc(f, SELECT(steep, OP2(FDIV, C(1), a), a));
    return OP2(COPYSIGN, SELECT(steep, quarter_less(f, r), r), x);
}

value spw_atan2(const struct formula *f, value y, value x)
{
    value a = OP1(FABS, y), b = OP1(FABS, x), steep = IS2(FOGT, a, b);
    value low = SELECT(steep, b, a), high = SELECT(steep, a, b), ratio = OP2(FDIV, low, high);
    ratio = SELECT(IS2(FOEQ, high, C(0)), C(0), ratio);
    ratio = SELECT(IS2(FOEQ, low, C(INFINITY)), C(1), ratio);
    value r = arc(f, ratio);
    r = SELECT(steep, quarter_less(f, r), r);
    r = OP2(COPYSIGN, SELECT(IS1(SIGNBIT, x), half_less(f, r), r), y);
    return SELECT(IS2(FUNO, x, y), C(NAN), r);
}

static value other_leg(const struct formula *f, value x)
{
    return OP1(SQRT, OP2(FMUL, OP2(FSUB, C(1), x), OP2(FADD, C(1), x)));
}

value spw_asin(const struct formula *f, value x)
{
    return spw_atan2(f, x, other_leg(f, x));
}

value spw_acos(const struct formula *f, value x)
{
    return spw_atan2(f, other_leg(f, x), x);
}
