/* Sines and arcs in f64: an angle is brought between -pi/4 and pi/4, a ratio below the tangent of pi/8. */
#include "fuser/spirv/maths/trigonometric.h"

#include <math.h>

#include "fuser/spirv/maths/series.h"

static const enum ir_kind kind = IR_KIND_F64;

/* ---- angles ---- */

struct angle {
    value quarter; /* i64: how many quarter turns, modulo 4 in its low bits */
    value rest;    /* radians */
};

/* pi/2 in three parts, of which two are so short that products with numbers below 2^25 are exact. */
static struct angle usual_angle(const struct formula *f, value x)
{
    static const double parts[] = {0x1.921fb54p+0, 0x1.10b461p-30, 0x1.a62633145c06ep-58};
    value n = OP1(RINT, OP2(FMUL, x, C(M_2_PI))), r = x;
    for (unsigned i = 0; i < 3; i++) r = OP2(FSUB, r, OP2(FMUL, n, C(parts[i])));
    return (struct angle){formula_op(f, IR_OP_FTOS, IR_KIND_I64, 1, &n), r};
}

static value long_op(const struct formula *f, enum ir_op op, value x, value y)
{
    return formula_op(f, op, IR_KIND_I64, 2, (value[]){x, y});
}

/* 64 bits of 2/pi from a bit on, the first behind the point being number 0: of two words and a part of the third. */
static value bits_of_two_over_pi(const struct formula *f, value from)
{
    static const uint64_t bits[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561};
    value word = long_op(f, IR_OP_LSHR, from, L(6)), by = long_op(f, IR_OP_AND, from, L(63)), here = L(bits[0]);
    value next = L(bits[1]);
    for (unsigned i = 1; i < 3; i++) {
        value is = formula_op(f, IR_OP_IEQ, IR_KIND_BOOL, 2, (value[]){word, L(i)});
        here = SELECT(is, L(bits[i]), here);
        next = SELECT(is, L(bits[i + 1]), next);
    }
    value up = long_op(f, IR_OP_SHL, here, by);
    value down = long_op(f, IR_OP_LSHR, long_op(f, IR_OP_LSHR, next, L(1)), long_op(f, IR_OP_SUB, L(63), by));
    return long_op(f, IR_OP_OR, up, down);
}

/* A number of f32's of at least 2^25 is m 2^e. Of m times 2/pi times 2^e only what is left modulo 4 matters: the two
   bits before the point and those behind it, of which 62 are had. */
static value large_angle_part(const struct formula *f, value x, bool wants_quarter)
{
    value bits = BITS(IR_KIND_I64, OP1(FABS, x));
    value e = long_op(f, IR_OP_SUB, long_op(f, IR_OP_LSHR, bits, L(52)), L(1023 + 23));
    value m =
        long_op(f, IR_OP_OR, long_op(f, IR_OP_AND, long_op(f, IR_OP_LSHR, bits, L(29)), L(0x7fffff)), L(0x800000));
    value from = long_op(f, IR_OP_SUB, e, L(2));
    value high = bits_of_two_over_pi(f, from), low = bits_of_two_over_pi(f, long_op(f, IR_OP_ADD, from, L(64)));
    value carried = long_op(f, IR_OP_LSHR, long_op(f, IR_OP_MUL, m, long_op(f, IR_OP_LSHR, low, L(32))), L(32));
    value turns = long_op(f, IR_OP_ADD, long_op(f, IR_OP_MUL, m, high), carried);
    value quarter = long_op(f, IR_OP_LSHR, long_op(f, IR_OP_ADD, turns, L(1ull << 61)), L(62));
    if (wants_quarter) return SELECT(IS1(SIGNBIT, x), long_op(f, IR_OP_SUB, L(0), quarter), quarter);
    value rest = OP1(STOF, long_op(f, IR_OP_SUB, turns, long_op(f, IR_OP_SHL, quarter, L(62))));
    rest = OP2(FMUL, rest, C(0x1p-62 * M_PI_2));
    return SELECT(IS1(SIGNBIT, x), OP1(FNEG, rest), rest);
}

static value large_quarter(const struct formula *f, const value *args)
{
    return large_angle_part(f, args[0], true);
}

static value large_rest(const struct formula *f, const value *args)
{
    return large_angle_part(f, args[0], false);
}

static struct angle angle_of(const struct formula *f, value x)
{
    value large = IS2(FOGE, OP1(FABS, x), C(0x1p25)), safe = SELECT(large, C(0), x);
    struct angle a = usual_angle(f, safe);
    a.quarter = f->rarely(f, large, a.quarter, large_quarter, &x);
    a.rest = f->rarely(f, large, a.rest, large_rest, &x);
    a.rest = SELECT(IS2(FOLT, OP1(FABS, x), C(INFINITY)), a.rest, C(NAN));
    return a;
}

static value sine(const struct formula *f, value r)
{
    static const double c[] = {1.0,          -1.0 / 6,        1.0 / 120,          -1.0 / 5040,
                               1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0, -1.0 / 1307674368000.0};
    value z = OP2(FMUL, r, r);
    return OP2(FADD, r, OP2(FMUL, OP2(FMUL, r, z), spw_series(f, z, c + 1, sizeof c / sizeof *c - 1)));
}

static value cosine(const struct formula *f, value r)
{
    static const double c[] = {-1.0 / 2,       1.0 / 24,        -1.0 / 720,           1.0 / 40320,
                               -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
    value z = OP2(FMUL, r, r);
    return OP2(FADD, C(1), OP2(FMUL, z, spw_series(f, z, c, sizeof c / sizeof *c)));
}

static value quarter_bit(const struct formula *f, value quarter, uint64_t bit)
{
    return formula_op(f, IR_OP_INE, IR_KIND_BOOL, 2, (value[]){long_op(f, IR_OP_AND, quarter, L(bit)), L(0)});
}

/* The sine of an angle, so many quarter turns on. */
static value sine_of(const struct formula *f, struct angle a, unsigned on)
{
    value quarter = on ? long_op(f, IR_OP_ADD, a.quarter, L(on)) : a.quarter;
    value r = SELECT(quarter_bit(f, quarter, 1), cosine(f, a.rest), sine(f, a.rest));
    return SELECT(quarter_bit(f, quarter, 2), OP1(FNEG, r), r);
}

value spw_sin(const struct formula *f, value x)
{
    return SELECT(IS2(FOEQ, x, C(0)), x, sine_of(f, angle_of(f, x), 0));
}

value spw_cos(const struct formula *f, value x)
{
    return sine_of(f, angle_of(f, x), 1);
}

value spw_tan(const struct formula *f, value x)
{
    struct angle a = angle_of(f, x);
    value s = sine(f, a.rest), c = cosine(f, a.rest), odd = quarter_bit(f, a.quarter, 1);
    value r = OP2(FDIV, SELECT(odd, OP1(FNEG, c), s), SELECT(odd, s, c));
    return SELECT(IS2(FOEQ, x, C(0)), x, r);
}

/* Whole turns go exactly. */
static struct angle angle_of_turns(const struct formula *f, value x)
{
    value t = OP2(FSUB, x, OP2(FMUL, C(2), OP1(RINT, OP2(FMUL, x, C(0.5)))));
    value n = OP1(RINT, OP2(FMUL, t, C(2))), rest = OP2(FSUB, t, OP2(FMUL, n, C(0.5)));
    return (struct angle){formula_op(f, IR_OP_FTOS, IR_KIND_I64, 1, &n), OP2(FMUL, rest, C(M_PI))};
}

value spw_sinpi(const struct formula *f, value x)
{
    return sine_of(f, angle_of_turns(f, x), 0);
}

value spw_cospi(const struct formula *f, value x)
{
    return sine_of(f, angle_of_turns(f, x), 1);
}

/* ---- arcs ---- */

/* Of a ratio from 0 to 1. */
static value arc(const struct formula *f, value a)
{
    static const double c[] = {-1.0 / 3, 1.0 / 5,   -1.0 / 7, 1.0 / 9,   -1.0 / 11, 1.0 / 13,  -1.0 / 15,
                               1.0 / 17, -1.0 / 19, 1.0 / 21, -1.0 / 23, 1.0 / 25,  -1.0 / 27, 1.0 / 29};
    value beyond = IS2(FOGT, a, C(M_SQRT2 - 1));
    value t = SELECT(beyond, OP2(FDIV, OP2(FSUB, a, C(1)), OP2(FADD, a, C(1))), a), z = OP2(FMUL, t, t);
    value r = OP2(FADD, t, OP2(FMUL, OP2(FMUL, t, z), spw_series(f, z, c, sizeof c / sizeof *c)));
    return SELECT(beyond, OP2(FADD, C(M_PI_4), r), r);
}

value spw_atan(const struct formula *f, value x)
{
    value a = OP1(FABS, x), steep = IS2(FOGT, a, C(1)), r = arc(f, SELECT(steep, OP2(FDIV, C(1), a), a));
    return OP2(COPYSIGN, SELECT(steep, OP2(FSUB, C(M_PI_2), r), r), x);
}

value spw_atan2(const struct formula *f, value y, value x)
{
    value a = OP1(FABS, y), b = OP1(FABS, x), steep = IS2(FOGT, a, b);
    value low = SELECT(steep, b, a), high = SELECT(steep, a, b), ratio = OP2(FDIV, low, high);
    ratio = SELECT(IS2(FOEQ, high, C(0)), C(0), ratio);
    ratio = SELECT(IS2(FOEQ, low, C(INFINITY)), C(1), ratio);
    value r = arc(f, ratio);
    r = SELECT(steep, OP2(FSUB, C(M_PI_2), r), r);
    r = OP2(COPYSIGN, SELECT(IS1(SIGNBIT, x), OP2(FSUB, C(M_PI), r), r), y);
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
