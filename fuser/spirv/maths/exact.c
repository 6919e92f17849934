/* Exponents, digits and remainders. */
#include "fuser/spirv/maths/exact.h"

#include <math.h>

#include "fuser/spirv/maths/exponent.h"
#include "fuser/spirv/maths/remainder.h"
#include "fuser/spirv/maths/series.h"

static value ilogb_of(const struct formula *f, value x)
{
    struct spw_split s = spw_split_float(f, x);
    enum ir_kind kind = IR_KIND_I32;
    value r = SELECT(s.regular, OP1(ITRUNC, s.exponent), I(INT32_MAX));
    kind = IR_KIND_F64;
    return SELECT(IS2(FOEQ, s.x, C(0)), I(INT32_MIN), r);
}

static value logb_of(const struct formula *f, enum ir_kind kind, value x)
{
    struct spw_split s = spw_split_float(f, x);
    value r = SELECT(s.regular, OP1(STOF, s.exponent), OP2(FMUL, x, x));
    return SELECT(IS2(FOEQ, x, C(0)), C(-INFINITY), r);
}

static value mantissa_of(const struct formula *f, enum ir_kind to, value x)
{
    const enum ir_kind kind = IR_KIND_F64;
    struct spw_split s = spw_split_float(f, x);
    value m = OP2(FMUL, spw_near_one(f, s), C(0.5));
    return SELECT(s.regular, to == kind ? m : AS(to, m), x);
}

static value exponent_of(const struct formula *f, value x)
{
    struct spw_split s = spw_split_float(f, x);
    enum ir_kind kind = IR_KIND_I32;
    return SELECT(s.regular, OP1(ITRUNC, LONG2(ADD, s.exponent, L(1))), I(0));
}

/* An f32 times a power of two is an f64, or nothing, or infinite. */
static value ldexp_of_f32(const struct formula *f, value x, value k)
{
    enum ir_kind kind = IR_KIND_I32;
    value cut = INT2(SMIN, INT2(SMAX, k, I(-400)), I(400));
    kind = IR_KIND_F64;
    return AS(IR_KIND_F32, OP2(FMUL, AS(kind, x), spw_power_of_two(f, LONG1(SEXT, cut))));
}

/* From a number between 1 and 2, so that the first step is exact. */
static value ldexp_of_f64(const struct formula *f, value x, value k)
{
    struct spw_split s = spw_split_float(f, x);
    value n = LONG2(ADD, s.exponent, LONG1(SEXT, k));
    n = LONG2(SMIN, LONG2(SMAX, n, L(-1100)), L(1024));
    return SELECT(s.regular, spw_scaled(f, spw_near_one(f, s), n), x);
}

/* Of f64, in which those of f32 are the same. */
static value in_f64(const struct formula *f, enum ir_op op, enum ir_kind narrow, const value *args)
{
    const enum ir_kind kind = IR_KIND_F64;
    value x = narrow == kind ? args[0] : AS(kind, args[0]), y = narrow == kind ? args[1] : AS(kind, args[1]);
    value r = op == IR_OP_FREM ? spw_frem(f, x, y) : spw_remainder(f, x, y);
    return narrow == kind ? r : AS(narrow, r);
}

bool spw_exact(const struct formula *f, enum ir_op op, enum ir_kind kind, const value *args, value *result)
{
    value x = args[0], y = args[1];
    switch (op) {
    case IR_OP_ILOGB: *result = ilogb_of(f, x); return true;
    case IR_OP_LOGB: *result = logb_of(f, kind, x); return true;
    case IR_OP_FREXP_MANT: *result = mantissa_of(f, kind, x); return true;
    case IR_OP_FREXP_EXP: *result = exponent_of(f, x); return true;
    case IR_OP_LDEXP: *result = kind == IR_KIND_F32 ? ldexp_of_f32(f, x, y) : ldexp_of_f64(f, x, y); return true;
    case IR_OP_FREM:
    case IR_OP_REMAINDER: *result = in_f64(f, op, kind, args); return true;
    default: return false;
    }
}
