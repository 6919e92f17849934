/* Sums rounded to odd: what is left over shows in the last bit, so that rounding once more does no harm. */
#include "fuser/spirv/maths/fma.h"

#include <math.h>

#include "fuser/spirv/maths/exponent.h"
#include "fuser/spirv/maths/pair.h"
#include "fuser/spirv/maths/series.h"

static const enum ir_kind kind = IR_KIND_F64;

static value sum_to_odd(const struct formula *f, value x, value y)
{
    struct spw_pair sum = spw_sum(f, x, y);
    value more = IS2(FOGT, sum.low, C(0)), less = IS2(FOLT, sum.low, C(0)), positive = IS2(FOGT, sum.high, C(0));
    value bits = BITS(IR_KIND_I64, sum.high), outward = IS2(XOR, IS1(NOT, positive), more);
    value even = IS2(IEQ, LONG2(AND, bits, L(1)), L(0)), changes = IS2(AND, even, IS2(OR, more, less));
    value odd = SELECT(outward, LONG2(ADD, bits, L(1)), LONG2(SUB, bits, L(1)));
    return BITS(kind, SELECT(changes, odd, bits));
}

/* The product of two f32 is exact in f64. */
value spw_fma_f32(const struct formula *f, const value *args)
{
    value product = OP2(FMUL, AS(kind, args[0]), AS(kind, args[1]));
    return AS(IR_KIND_F32, sum_to_odd(f, product, AS(kind, args[2])));
}

/* Of numbers of the sizes of 1, 1 and 2^n, times 2^e: of the four whose sum it is two are made, the second rounded to
   odd. A denormal result has fewer places. They are cut off by adding the number whose last place is theirs. */
static value sum_of_parts(const struct formula *f, value x, value y, value z, value e)
{
    struct spw_pair product = spw_product(f, x, y), ends = spw_sum(f, z, product.low);
    struct spw_pair sum = spw_sum(f, product.high, ends.high);
    value rest = sum_to_odd(f, sum.low, ends.low);
    value top = LONG2(AND, LONG2(LSHR, BITS(IR_KIND_I64, sum.high), L(52)), L(0x7ff));
    value denormal = IS2(SLT, LONG2(ADD, LONG2(SUB, top, L(1023)), e), L(-1022));
    value other = SELECT(denormal, spw_power_of_two(f, LONG2(SUB, L(-1022), e)), C(0));
    other = OP2(COPYSIGN, other, sum.high);
    struct spw_pair cut = spw_sum(f, other, sum.high);
    value r = OP2(FSUB, OP2(FADD, cut.high, sum_to_odd(f, cut.low, rest)), other);
    value first = SELECT(IS2(FOEQ, sum.high, C(0)), rest, sum.high);
    return SELECT(IS2(FOEQ, first, C(0)), C(0), OP2(COPYSIGN, r, first));
}

/* What is too small beside the rest to show as itself is made larger: nothing may vanish. */
static value fma_of_numbers(const struct formula *f, value x, value y, value z)
{
    struct spw_split a = spw_split_float(f, x), b = spw_split_float(f, y), c = spw_split_float(f, z);
    value of_z = SELECT(c.regular, c.exponent, L(-3000));
    value e = LONG2(SMAX, LONG2(ADD, a.exponent, b.exponent), L(-2000));
    e = LONG2(SMAX, e, LONG2(SUB, of_z, L(110)));
    value n = LONG2(SMAX, LONG2(SUB, of_z, e), L(-170));
    value third = SELECT(c.regular, OP2(FMUL, spw_near_one(f, c), spw_power_of_two(f, n)), z);
    return spw_scaled(f, sum_of_parts(f, spw_near_one(f, a), spw_near_one(f, b), third, e), e);
}

/* Products with 0 are exact, those with what is infinite or no number as they are; a sum with such a z is z. */
value spw_fma_f64(const struct formula *f, const value *args)
{
    value x = args[0], y = args[1], z = args[2], plain = OP2(FADD, OP2(FMUL, x, y), z), zero = C(0);
    value r = fma_of_numbers(f, x, y, z), infinity = C(INFINITY);
    value finite = IS2(AND, IS2(FOLT, OP1(FABS, x), infinity), IS2(FOLT, OP1(FABS, y), infinity));
    value usual = IS2(AND, finite, IS2(AND, IS2(FUNE, x, zero), IS2(FUNE, y, zero)));
    r = SELECT(usual, r, plain);
    return SELECT(IS2(AND, finite, IS1(NOT, IS2(FOLT, OP1(FABS, z), infinity))), z, r);
}
