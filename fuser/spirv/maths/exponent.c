/* Exponents: those of an f64, in which no f32 is denormal. */
#include "fuser/spirv/maths/exponent.h"

#include <math.h>

#include "fuser/spirv/maths/series.h"

value spw_power_of_two(const struct formula *f, value n)
{
    return BITS(IR_KIND_F64, LONG2(SHL, LONG2(ADD, n, L(1023)), L(52)));
}

value spw_scaled(const struct formula *f, value x, value n)
{
    const enum ir_kind kind = IR_KIND_F64;
    value half = LONG2(ASHR, n, L(1)), rest = LONG2(SUB, n, half);
    return OP2(FMUL, OP2(FMUL, x, spw_power_of_two(f, half)), spw_power_of_two(f, rest));
}

struct spw_split spw_split_float(const struct formula *f, value x)
{
    enum ir_kind kind = IR_KIND_F64;
    bool wide = x.kind == kind;
    value y = wide ? x : AS(kind, x), size = OP1(FABS, y), low = L(0);
    if (wide) {
        value small = IS2(FOLT, size, C(0x1p-1022));
        y = SELECT(small, OP2(FMUL, y, C(0x1p54)), y);
        low = SELECT(small, L(54), L(0));
    }
    value field = LONG2(AND, LONG2(LSHR, BITS(IR_KIND_I64, y), L(52)), L(0x7ff));
    value exponent = LONG2(SUB, LONG2(SUB, field, L(1023)), low);
    value regular = IS2(AND, IS2(FOGT, size, C(0)), IS2(FOLT, size, C(INFINITY)));
    return (struct spw_split){y, exponent, regular};
}

value spw_near_one(const struct formula *f, struct spw_split s)
{
    value digits = LONG2(AND, BITS(IR_KIND_I64, s.x), L(0x800fffffffffffff));
    return BITS(IR_KIND_F64, LONG2(OR, digits, L(0x3ff0000000000000)));
}
