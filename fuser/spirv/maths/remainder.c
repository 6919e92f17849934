/* x and y are whole numbers mx and my times powers of two. What mx 2^d leaves modulo my comes from what 2^d leaves,
   by squaring. */
#include "fuser/spirv/maths/remainder.h"

#include <math.h>

#include "fuser/spirv/maths/exponent.h"
#include "fuser/spirv/maths/series.h"

static const enum ir_kind kind = IR_KIND_F64;

enum { EXPONENT_BITS = 12 }; /* of how far apart exponents may be */

/* r less as many m as its f64's quotient is, modulo 2^64: what stays is small, and so right. */
static value taken_off(const struct formula *f, value r, value quotient, value m)
{
    return LONG2(SUB, r, LONG2(MUL, LONG1(FTOS, quotient), m));
}

/* x y modulo m, all below 2^54. The first quotient is off by a few units, the second by half a unit. over: 1 / m. */
static value product_modulo(const struct formula *f, value x, value y, value m, value over)
{
    value r = taken_off(f, LONG2(MUL, x, y), OP2(FMUL, OP2(FMUL, OP1(STOF, x), OP1(STOF, y)), over), m);
    r = taken_off(f, r, OP1(RINT, OP2(FMUL, OP1(STOF, r), over)), m);
    return SELECT(formula_op(f, IR_OP_SLT, IR_KIND_BOOL, 2, (value[]){r, L(0)}), LONG2(ADD, r, m), r);
}

static value whole_of(const struct formula *f, struct spw_split s)
{
    return LONG2(OR, LONG2(AND, BITS(IR_KIND_I64, s.x), L(0xfffffffffffff)), L(0x10000000000000));
}

struct division {
    value rest;    /* of the sizes, below y's; exact */
    value odd;     /* the quotient is */
    value regular; /* x is finite, y neither 0 nor infinite nor NaN */
};

/* Modulo twice my: what is left then tells whether the quotient is odd. */
static struct division divide(const struct formula *f, value x, value y)
{
    struct spw_split a = spw_split_float(f, x), b = spw_split_float(f, y);
    value less = IS2(FOLT, OP1(FABS, x), OP1(FABS, y)), apart = LONG2(SUB, a.exponent, b.exponent);
    value my = SELECT(b.regular, whole_of(f, b), L(1)), twice = LONG2(SHL, my, L(1));
    value over = OP2(FDIV, C(1), OP1(STOF, twice));
    value mx = SELECT(a.regular, whole_of(f, a), L(0)), power = L(1);
    apart = SELECT(IS2(AND, a.regular, b.regular), LONG2(SMAX, apart, L(0)), L(0));
    for (unsigned bit = 1u << (EXPONENT_BITS - 1); bit; bit /= 2) {
        power = product_modulo(f, power, power, twice, over);
        value doubled = LONG2(SHL, power, L(1));
        doubled = SELECT(formula_op(f, IR_OP_SGE, IR_KIND_BOOL, 2, (value[]){doubled, twice}),
                         LONG2(SUB, doubled, twice), doubled);
        value is = formula_op(f, IR_OP_INE, IR_KIND_BOOL, 2, (value[]){LONG2(AND, apart, L(bit)), L(0)});
        power = SELECT(is, doubled, power);
    }
    value rest = product_modulo(f, mx, power, twice, over);
    value odd = formula_op(f, IR_OP_SGE, IR_KIND_BOOL, 2, (value[]){rest, my});
    rest = SELECT(odd, LONG2(SUB, rest, my), rest);
    struct division d = {.odd = IS2(AND, odd, IS1(NOT, less))};
    rest = spw_scaled(f, OP1(STOF, rest), LONG2(SUB, b.exponent, L(52)));
    d.rest = SELECT(less, OP1(FABS, x), rest);
    d.regular = IS2(AND, IS2(FOLT, OP1(FABS, x), C(INFINITY)), b.regular);
    return d;
}

/* By an infinite number it is x. */
static value with_corners(const struct formula *f, value x, value y, value regular, value r)
{
    value infinite = IS2(AND, IS2(FOEQ, OP1(FABS, y), C(INFINITY)), IS2(FOLT, OP1(FABS, x), C(INFINITY)));
    return SELECT(infinite, x, SELECT(regular, r, C(NAN)));
}

value spw_frem(const struct formula *f, value x, value y)
{
    struct division d = divide(f, x, y);
    return with_corners(f, x, y, d.regular, OP2(COPYSIGN, d.rest, x));
}

/* One more y is taken away where more than half of it is left, or half and the quotient is odd. */
value spw_remainder(const struct formula *f, value x, value y)
{
    struct division d = divide(f, x, y);
    value size = OP1(FABS, y), other = OP2(FSUB, size, d.rest); /* exact where it is next to rest */
    value more = IS2(FOGT, d.rest, other), half = IS2(FOEQ, d.rest, other);
    value r = SELECT(IS2(OR, more, IS2(AND, half, d.odd)), OP2(FSUB, d.rest, size), d.rest);
    r = SELECT(IS1(SIGNBIT, x), OP1(FNEG, r), r);
    return with_corners(f, x, y, d.regular, SELECT(IS2(FOEQ, r, C(0)), OP2(COPYSIGN, C(0), x), r));
}
