/* Powers from exponents and logarithms, and roots. */
#include "fuser/spirv/maths/power.h"

#include <math.h>

#include "fuser/spirv/maths/elementary.h"
#include "fuser/spirv/maths/series.h"

static const enum ir_kind kind = IR_KIND_F64;

static value is_whole(const struct formula *f, value y)
{
    return IS2(FOEQ, OP1(RINT, y), y);
}

/* r: of the size of x. */
static value pow_of_sign(const struct formula *f, value x, value y, value r)
{
    value size = OP1(FABS, x), half = OP2(FMUL, y, C(0.5));
    value odd = IS2(AND, is_whole(f, y), IS1(NOT, is_whole(f, half)));
    r = SELECT(IS2(FOEQ, size, C(1)), C(1), r);
    r = SELECT(IS2(AND, odd, IS1(SIGNBIT, x)), OP1(FNEG, r), r);
    value root = IS2(AND, IS2(FOLT, x, C(0)), IS1(NOT, is_whole(f, y)));
    root = IS2(AND, root, IS2(FOLT, size, C(INFINITY)));
    r = SELECT(root, C(NAN), r);
    r = SELECT(IS2(FUNO, x, y), C(NAN), r);
    return SELECT(IS2(OR, IS2(FOEQ, y, C(0)), IS2(FOEQ, x, C(1))), C(1), r);
}

value spw_pow_f32(const struct formula *f, value x, value y)
{
    return pow_of_sign(f, x, y, spw_exp(f, OP2(FMUL, y, spw_log(f, OP1(FABS, x)))));
}

/* An exponent of 700 has its last digit 2^-43: what it leaves over counts. */
value spw_pow(const struct formula *f, value x, value y)
{
    value size = OP1(FABS, x), usual = IS2(AND, IS2(FOGT, size, C(0)), IS2(FOLT, size, C(INFINITY)));
    struct spw_pair log = spw_log_pair(f, size), power = spw_product(f, y, log.high);
    value corner = SELECT(IS2(FOGT, size, C(1)), C(INFINITY), C(-INFINITY));
    value exponent = SELECT(usual, power.high, OP2(FMUL, y, corner));
    value rest = SELECT(IS2(FOLT, OP1(FABS, exponent), C(800)), OP2(FADD, power.low, OP2(FMUL, y, log.low)), C(0));
    return pow_of_sign(f, x, y, spw_exp_of_sum(f, exponent, rest));
}

/* One step of Newton's takes away what the logarithm lost; where its cubes would vanish the number is scaled. */
value spw_cbrt(const struct formula *f, value x)
{
    value size = OP1(FABS, x), usual = IS2(AND, IS2(FOGT, size, C(0)), IS2(FOLT, size, C(INFINITY)));
    value small = IS2(FOLT, size, C(0x1p-900));
    size = SELECT(small, OP2(FMUL, size, C(0x1p162)), size);
    value r = spw_exp(f, OP2(FDIV, spw_log(f, size), C(3))), square = OP2(FMUL, r, r);
    value error = OP2(FSUB, OP2(FMUL, square, r), size);
    r = OP2(FSUB, r, OP2(FDIV, error, OP2(FMUL, C(3), square)));
    r = SELECT(small, OP2(FMUL, r, C(0x1p-54)), r);
    return SELECT(usual, OP2(COPYSIGN, r, x), x);
}
