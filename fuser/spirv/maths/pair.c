/* Sums and products with what they leave over, by operations that round once. */
#include "fuser/spirv/maths/pair.h"

#include "fuser/spirv/maths/series.h"

static const enum ir_kind kind = IR_KIND_F64;

struct spw_pair spw_sum(const struct formula *f, value x, value y)
{
    value sum = OP2(FADD, x, y), second = OP2(FSUB, sum, x);
    return (struct spw_pair){sum, OP2(FADD, OP2(FSUB, x, OP2(FSUB, sum, second)), OP2(FSUB, y, second))};
}

struct spw_pair spw_ordered_sum(const struct formula *f, value x, value y)
{
    value sum = OP2(FADD, x, y);
    return (struct spw_pair){sum, OP2(FSUB, y, OP2(FSUB, sum, x))};
}

/* The 26 digits in front; what is left has as many, with its sign. */
static value front(const struct formula *f, value x)
{
    value more = OP2(FMUL, x, C(0x1p27 + 1));
    return OP2(FSUB, more, OP2(FSUB, more, x));
}

struct spw_pair spw_product(const struct formula *f, value x, value y)
{
    value product = OP2(FMUL, x, y), a = front(f, x), b = front(f, y), c = OP2(FSUB, x, a), d = OP2(FSUB, y, b);
    value rest = OP2(FADD, OP2(FSUB, OP2(FMUL, a, b), product), OP2(FMUL, a, d));
    rest = OP2(FADD, OP2(FADD, rest, OP2(FMUL, c, b)), OP2(FMUL, c, d));
    return (struct spw_pair){product, rest};
}

struct spw_pair spw_pair_times(const struct formula *f, struct spw_pair x, struct spw_pair y)
{
    struct spw_pair p = spw_product(f, x.high, y.high);
    value cross = OP2(FADD, OP2(FMUL, x.high, y.low), OP2(FMUL, x.low, y.high));
    return spw_ordered_sum(f, p.high, OP2(FADD, p.low, cross));
}

/* What the quotient of the first parts leaves of x, divided once more. */
struct spw_pair spw_pair_quotient(const struct formula *f, value x, struct spw_pair y)
{
    value q = OP2(FDIV, x, y.high);
    struct spw_pair p = spw_product(f, q, y.high);
    value rest = OP2(FSUB, OP2(FSUB, OP2(FSUB, x, p.high), p.low), OP2(FMUL, q, y.low));
    return spw_ordered_sum(f, q, OP2(FDIV, rest, y.high));
}
