/*
 * A step of Newton's method leaves a number that is at most one unit of its last place from the exact one, so the
 * nearest is that or its neighbour on the exact one's side: the one of which less remains. What remains of either is
 * exact in one FMA. None is half way: the exact one would have a digit too many for its product, or square.
 * (tests/unit/test_quotient.c tries the operands that come closest.)
 */
#include "ir/formula/quotient.h"

#include <math.h>

#include "ir/formula/notation.h"

static const enum ir_kind kind = IR_KIND_F32;

/* q's neighbour, further from 0 where `up` (a number as bits) is not negative. */
static value neighbour(const struct formula *f, value q, value up)
{
    value step = INT2(OR, INT2(ASHR, up, I(31)), I(1));
    return BITS(kind, INT2(ADD, BITS(IR_KIND_I32, q), step));
}

static value with_less_left(const struct formula *f, value q, value left, value other, value left_of_other)
{
    return SELECT(IS2(FOLT, OP1(FABS, left_of_other), OP1(FABS, left)), other, q);
}

value formula_quotient_f32(const struct formula *f, value x, value y, value r)
{
    value minus_y = OP1(FNEG, y);
    r = OP3(FMA, r, OP3(FMA, minus_y, r, C(1)), r);
    value q = OP2(FMUL, x, r);
    q = OP3(FMA, OP3(FMA, minus_y, q, x), r, q);
    value left = OP3(FMA, minus_y, q, x);
    value side = INT2(XOR, BITS(IR_KIND_I32, left), BITS(IR_KIND_I32, x));
    value other = neighbour(f, q, side);
    q = with_less_left(f, q, left, other, OP3(FMA, minus_y, other, x));
    /* Of 0 the sign would be lost. */
    value size = INT2(AND, BITS(IR_KIND_I32, q), I(0x7fffffff));
    value sign = INT2(AND, INT2(XOR, BITS(IR_KIND_I32, x), BITS(IR_KIND_I32, y)), I(0x80000000));
    return BITS(kind, INT2(OR, size, sign));
}

/* With a reciprocal that is the nearest but for a little, a second step gives the nearest quotient: what it is off by
   before it is rounded, half a unit of the last place times 2^-25 y (y from 1 to 2), is less than the distance of any
   quotient from half way, unless y is next to 2. Of -0 / y the sign would be lost. */
value formula_quick_quotient_f32(const struct formula *f, value x, value y, value r)
{
    value minus_y = OP1(FNEG, y);
    r = OP3(FMA, r, OP3(FMA, minus_y, r, C(1)), r);
    value q = OP2(FMUL, x, r);
    q = OP3(FMA, OP3(FMA, minus_y, q, x), r, q);
    return OP3(FMA, OP3(FMA, minus_y, q, x), r, q);
}

value formula_quick_root_f32(const struct formula *f, value x, value r)
{
    value g = OP2(FMUL, x, r);
    return OP3(FMA, OP3(FMA, OP1(FNEG, g), g, x), OP2(FMUL, r, C(0.5)), g);
}

value formula_root_f32(const struct formula *f, value x, value r)
{
    value g = formula_quick_root_f32(f, x, r);
    value left = OP3(FMA, OP1(FNEG, g), g, x);
    value other = neighbour(f, g, BITS(IR_KIND_I32, left));
    return with_less_left(f, g, left, other, OP3(FMA, OP1(FNEG, other), other, x));
}

/* ---- of any operands ---- */

enum { INFINITE = 0x7f800000, LEAST_NORMAL = 0x800000, SIGN = 0x7fffffff + 1u, BIAS = 127 };

/* A number's significand, from 1 to 2, and its exponent as its bits have it, below 1 where it is denormal: these are
   integers, which no device takes for 0. */
struct parts {
    value digits, exponent;
};

static struct parts parts_of(const struct formula *f, value size)
{
    value small = IS2(ULT, size, I(LEAST_NORMAL)), whole = BITS(IR_KIND_I32, OP1(UTOF, size));
    value bits = SELECT(small, whole, size);
    value exponent = INT2(SUB, INT2(LSHR, bits, I(23)), SELECT(small, I(149), I(0)));
    value digits = INT2(OR, INT2(AND, bits, I(LEAST_NORMAL - 1)), I(BIAS << 23));
    return (struct parts){BITS(kind, digits), exponent};
}

static value size_of(const struct formula *f, value x)
{
    return INT2(AND, BITS(IR_KIND_I32, x), I(~SIGN));
}

/* A denormal's bits: those of q, from 1/2 to 2, cut where its exponent says. What q leaves over decides where q itself
   would be half way. */
static value denormal_of(const struct formula *f, value q, value exponent, value left)
{
    value over = SELECT(IS2(FOGT, left, C(0)), I(1), SELECT(IS2(FOLT, left, C(0)), I(-1), I(0)));
    value digits = INT2(OR, INT2(AND, BITS(IR_KIND_I32, q), I(LEAST_NORMAL - 1)), I(LEAST_NORMAL));
    value all = INT2(ADD, INT2(SHL, digits, I(2)), over);
    value by = INT2(ADD, INT2(SMIN, INT2(SUB, I(1), exponent), I(26)), I(2));
    value one = INT2(SHL, I(1), by), half = INT2(LSHR, one, I(1));
    value kept = INT2(LSHR, all, by), rest = INT2(AND, all, INT2(SUB, one, I(1)));
    value tie = IS2(AND, IS2(IEQ, rest, half), IS2(INE, INT2(AND, kept, I(1)), I(0)));
    value up = IS2(OR, IS2(UGT, rest, half), tie);
    return INT2(ADD, kept, SELECT(up, I(1), I(0)));
}

/* Where an operand is 0, infinite or no number; both are bits without their signs. */
static value corners(const struct formula *f, value x, value y, value usual)
{
    value infinite = I(INFINITE), no_x = IS2(IEQ, x, I(0)), no_y = IS2(IEQ, y, I(0));
    value all_x = IS2(IEQ, x, infinite), all_y = IS2(IEQ, y, infinite);
    value r = SELECT(IS2(OR, no_x, all_y), I(0), usual);
    r = SELECT(IS2(OR, no_y, all_x), infinite, r);
    value none = IS2(OR, IS2(AND, no_x, no_y), IS2(AND, all_x, all_y));
    none = IS2(OR, none, IS2(OR, IS2(UGT, x, infinite), IS2(UGT, y, infinite)));
    return SELECT(none, BITS(IR_KIND_I32, C(NAN)), r);
}

value formula_quotient_of_any_f32(const struct formula *f, value x, value y, formula_approximation *approximate)
{
    value size_x = size_of(f, x), size_y = size_of(f, y);
    struct parts a = parts_of(f, size_x), b = parts_of(f, size_y);
    value q = formula_quotient_f32(f, a.digits, b.digits, approximate(f, b.digits));
    value left = OP3(FMA, OP1(FNEG, b.digits), q, a.digits), bits = BITS(IR_KIND_I32, q);
    value by = INT2(SUB, a.exponent, b.exponent), exponent = INT2(ADD, INT2(LSHR, bits, I(23)), by);
    value r = INT2(ADD, bits, INT2(SHL, by, I(23)));
    r = SELECT(IS2(SLT, exponent, I(1)), denormal_of(f, q, exponent, left), r);
    r = corners(f, size_x, size_y, SELECT(IS2(SGT, exponent, I(254)), I(INFINITE), r));
    value sign = INT2(AND, INT2(XOR, BITS(IR_KIND_I32, x), BITS(IR_KIND_I32, y)), I(SIGN));
    return BITS(kind, INT2(OR, r, sign));
}

value formula_root_of_any_f32(const struct formula *f, value x, formula_approximation *approximate)
{
    value bits = BITS(IR_KIND_I32, x), size = size_of(f, x);
    struct parts a = parts_of(f, size);
    value exponent = INT2(SUB, a.exponent, I(BIAS)), odd = IS2(INE, INT2(AND, exponent, I(1)), I(0));
    value digits = SELECT(odd, OP2(FMUL, a.digits, C(2)), a.digits);
    value root = BITS(IR_KIND_I32, formula_root_f32(f, digits, approximate(f, digits)));
    value r = INT2(ADD, root, INT2(SHL, INT2(ASHR, exponent, I(1)), I(23)));
    r = SELECT(IS2(OR, IS2(IEQ, size, I(0)), IS2(IEQ, bits, I(INFINITE))), bits, r);
    value none = IS2(OR, IS2(UGT, size, I(INFINITE)), IS2(UGT, bits, I(SIGN)));
    return BITS(kind, SELECT(none, BITS(IR_KIND_I32, C(NAN)), r));
}
