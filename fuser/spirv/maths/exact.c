/* Functions that are exact. Exponents are those of an f64, in which no f32 is denormal; remainders of f32 are taken bit
   by bit in integers, 40 at a time. */
#include "fuser/spirv/maths/exact.h"

#include <math.h>

#include "fuser/spirv/maths/series.h"

static value long_op(const struct formula *f, enum ir_op op, value x, value y)
{
    return formula_op(f, op, IR_KIND_I64, 2, (value[]){x, y});
}

static value long_is(const struct formula *f, enum ir_op op, value x, value y)
{
    return formula_op(f, op, IR_KIND_BOOL, 2, (value[]){x, y});
}

/* ---- exponents ---- */

struct split {
    value x;        /* as f64, normal where it is a number but 0 */
    value exponent; /* i64 */
    value regular;  /* neither 0 nor infinite nor NaN */
};

static struct split split(const struct formula *f, value x)
{
    enum ir_kind kind = IR_KIND_F64;
    bool wide = x.kind == kind;
    value y = wide ? x : AS(kind, x), size = OP1(FABS, y), low = L(0);
    if (wide) {
        value small = IS2(FOLT, size, C(0x1p-1022));
        y = SELECT(small, OP2(FMUL, y, C(0x1p54)), y);
        low = SELECT(small, L(54), L(0));
    }
    value field = long_op(f, IR_OP_AND, long_op(f, IR_OP_LSHR, BITS(IR_KIND_I64, y), L(52)), L(0x7ff));
    value exponent = long_op(f, IR_OP_SUB, long_op(f, IR_OP_SUB, field, L(1023)), low);
    value regular = IS2(AND, IS2(FOGT, size, C(0)), IS2(FOLT, size, C(INFINITY)));
    return (struct split){y, exponent, regular};
}

static value ilogb_of(const struct formula *f, value x)
{
    struct split s = split(f, x);
    enum ir_kind kind = IR_KIND_I32;
    value r = SELECT(s.regular, OP1(ITRUNC, s.exponent), I(INT32_MAX));
    kind = IR_KIND_F64;
    return SELECT(IS2(FOEQ, s.x, C(0)), I(INT32_MIN), r);
}

static value logb_of(const struct formula *f, enum ir_kind kind, value x)
{
    struct split s = split(f, x);
    value r = SELECT(s.regular, OP1(STOF, s.exponent), OP2(FMUL, x, x));
    return SELECT(IS2(FOEQ, x, C(0)), C(-INFINITY), r);
}

static value mantissa_of(const struct formula *f, enum ir_kind kind, value x)
{
    struct split s = split(f, x);
    value low = long_op(f, IR_OP_AND, BITS(IR_KIND_I64, s.x), L(0x800fffffffffffff));
    value m = BITS(IR_KIND_F64, long_op(f, IR_OP_OR, low, L(0x3fe0000000000000)));
    return SELECT(s.regular, kind == IR_KIND_F64 ? m : AS(kind, m), x);
}

static value exponent_of(const struct formula *f, value x)
{
    struct split s = split(f, x);
    enum ir_kind kind = IR_KIND_I32;
    return SELECT(s.regular, OP1(ITRUNC, long_op(f, IR_OP_ADD, s.exponent, L(1))), I(0));
}

/* An f32 times a power of two is an f64, or nothing, or infinite. */
static value ldexp_of(const struct formula *f, value x, value k)
{
    enum ir_kind kind = IR_KIND_I32;
    value cut = INT2(SMIN, INT2(SMAX, k, I(-400)), I(400));
    kind = IR_KIND_I64;
    value power = long_op(f, IR_OP_SHL, long_op(f, IR_OP_ADD, OP1(SEXT, cut), L(1023)), L(52));
    kind = IR_KIND_F64;
    return AS(IR_KIND_F32, OP2(FMUL, AS(kind, x), BITS(kind, power)));
}

/* ---- remainders ---- */

struct division {
    value rest, quotient; /* i64: of the sizes' significands, in units of y's last place; the quotient's low bits */
    value unit;           /* f64: that place */
    value regular;        /* x is finite, y neither 0 nor NaN */
};

/* |x| = mx 2^ex and |y| = my 2^ey with 24 bits each. Where x is of a smaller exponent its significand loses bits on the
   way down, which comes out right only for what is at most y: such x are their own remainders. */
static struct division divide(const struct formula *f, value x, value y)
{
    enum ir_kind kind = IR_KIND_F64;
    struct split a = split(f, x), b = split(f, y);
    value mask = L(0x7fffff), one = L(0x800000);
    value mx =
        long_op(f, IR_OP_OR, long_op(f, IR_OP_AND, long_op(f, IR_OP_LSHR, BITS(IR_KIND_I64, a.x), L(29)), mask), one);
    value my =
        long_op(f, IR_OP_OR, long_op(f, IR_OP_AND, long_op(f, IR_OP_LSHR, BITS(IR_KIND_I64, b.x), L(29)), mask), one);
    mx = SELECT(a.regular, mx, L(0));
    value left = long_op(f, IR_OP_SMAX, long_op(f, IR_OP_SUB, a.exponent, b.exponent), L(0));
    left = SELECT(a.regular, left, L(0));
    value rest = long_op(f, IR_OP_UREM, mx, my), quotient = long_op(f, IR_OP_UDIV, mx, my);
    for (unsigned i = 0; i < 7; i++) { /* exponents are at most 276 apart */
        value by = long_op(f, IR_OP_SMIN, left, L(40)), more = long_op(f, IR_OP_SHL, rest, by);
        quotient = long_op(f, IR_OP_ADD, long_op(f, IR_OP_SHL, quotient, by), long_op(f, IR_OP_UDIV, more, my));
        rest = long_op(f, IR_OP_UREM, more, my);
        left = long_op(f, IR_OP_SUB, left, by);
    }
    value power = long_op(f, IR_OP_SHL, long_op(f, IR_OP_ADD, b.exponent, L(1023 - 23)), L(52));
    value regular = IS2(AND, IS2(FOLT, OP1(FABS, a.x), C(INFINITY)), IS2(FOGT, OP1(FABS, b.x), C(0)));
    return (struct division){rest, quotient, BITS(kind, power), regular};
}

static value frem_of(const struct formula *f, value x, value y)
{
    enum ir_kind kind = IR_KIND_F64;
    struct division d = divide(f, x, y);
    value r = AS(IR_KIND_F32, OP2(FMUL, OP1(STOF, d.rest), d.unit));
    kind = IR_KIND_F32;
    r = SELECT(d.regular, OP2(COPYSIGN, r, x), C(NAN));
    return SELECT(IS2(AND, d.regular, IS2(FOLT, OP1(FABS, x), OP1(FABS, y))), x, r);
}

/* From the remainder below |y|: one more y is taken away where more than half of it is left, or half and the quotient
   is odd. In f64 all of this is exact. */
static value nearest_remainder(const struct formula *f, value x, value y)
{
    enum ir_kind kind = IR_KIND_F64;
    struct division d = divide(f, x, y);
    value wide_x = AS(kind, x), size = OP1(FABS, AS(kind, y));
    value less = IS2(FOLT, OP1(FABS, wide_x), size);
    value r = SELECT(less, OP1(FABS, wide_x), OP2(FMUL, OP1(STOF, d.rest), d.unit));
    value odd = long_is(f, IR_OP_INE, long_op(f, IR_OP_AND, d.quotient, L(1)), L(0));
    odd = IS2(AND, odd, IS1(NOT, less));
    value twice = OP2(FADD, r, r), more = IS2(FOGT, twice, size), half = IS2(FOEQ, twice, size);
    r = SELECT(IS2(OR, more, IS2(AND, half, odd)), OP2(FSUB, r, size), r);
    r = SELECT(IS1(SIGNBIT, wide_x), OP1(FNEG, r), r);
    r = SELECT(IS2(FOEQ, r, C(0)), OP2(COPYSIGN, r, wide_x), r);
    r = AS(IR_KIND_F32, r);
    kind = IR_KIND_F32;
    r = SELECT(IS2(FOEQ, OP1(FABS, y), C(INFINITY)), x, r);
    value finite = IS2(AND, d.regular, IS2(FOEQ, y, y));
    return SELECT(finite, r, C(NAN));
}

bool spw_exact(const struct formula *f, enum ir_op op, enum ir_kind kind, const value *args, value *result)
{
    value x = args[0], y = args[1];
    switch (op) {
    case IR_OP_ILOGB: *result = ilogb_of(f, x); return true;
    case IR_OP_LOGB: *result = logb_of(f, kind, x); return true;
    case IR_OP_FREXP_MANT: *result = mantissa_of(f, kind, x); return true;
    case IR_OP_FREXP_EXP: *result = exponent_of(f, x); return true;
    default: break;
    }
    if (kind != IR_KIND_F32) return false;
    switch (op) {
    case IR_OP_LDEXP: *result = ldexp_of(f, x, y); return true;
    case IR_OP_FREM: *result = frem_of(f, x, y); return true;
    case IR_OP_REMAINDER: *result = nearest_remainder(f, x, y); return true;
    default: return false;
    }
}
