/* Quarter turns are taken off by products that are exact; of large numbers in integers. */
#include "fuser/spirv/maths/angle.h"

#include <math.h>

#include "fuser/spirv/maths/pair.h"
#include "fuser/spirv/maths/series.h"

static const enum ir_kind kind = IR_KIND_F64;

/* ---- usual ones ---- */

/* pi/2 in parts of 33 bits, whose products with numbers below 2^20 are exact. The first difference is exact, too. */
struct spw_angle spw_angle(const struct formula *f, value x)
{
    value n = OP1(RINT, OP2(FMUL, x, C(M_2_PI)));
    value first = OP2(FSUB, x, OP2(FMUL, n, C(0x1.921fb544p+0)));
    struct spw_pair second = spw_sum(f, first, OP2(FMUL, n, C(-0x1.0b4611a6p-34)));
    struct spw_pair third = spw_sum(f, second.high, OP2(FMUL, n, C(-0x1.3198a2ep-69)));
    value low = OP2(FADD, OP2(FADD, second.low, third.low), OP2(FMUL, n, C(-0x1.b839a252049c1p-104)));
    struct spw_pair all = spw_ordered_sum(f, third.high, low);
    return (struct spw_angle){LONG1(FTOS, n), all.high, all.low, true};
}

/* In three parts, of which two are so short that products with numbers below 2^25 are exact. */
struct spw_angle spw_angle_f32(const struct formula *f, value x)
{
    static const double parts[] = {0x1.921fb54p+0, 0x1.10b461p-30, 0x1.a62633145c06ep-58};
    value n = OP1(RINT, OP2(FMUL, x, C(M_2_PI))), r = x;
    for (unsigned i = 0; i < 3; i++) r = OP2(FSUB, r, OP2(FMUL, n, C(parts[i])));
    return (struct spw_angle){.quarter = LONG1(FTOS, n), .rest = r};
}

/* Whole turns go exactly. */
struct spw_angle spw_angle_of_turns(const struct formula *f, value x)
{
    value t = OP2(FSUB, x, OP2(FMUL, C(2), OP1(RINT, OP2(FMUL, x, C(0.5)))));
    value n = OP1(RINT, OP2(FMUL, t, C(2))), rest = OP2(FSUB, t, OP2(FMUL, n, C(0.5)));
    return (struct spw_angle){.quarter = LONG1(FTOS, n), .rest = OP2(FMUL, rest, C(M_PI))};
}

/* ---- large ones ---- */

/* 2/pi from 64 bits before the point on. */
static const uint64_t two_over_pi[] = {
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
};

enum { WORDS = sizeof two_over_pi / sizeof *two_over_pi, TAKEN = 4 };

/* TAKEN words from a number on: those that lie 16, 8, 4, 2 and 1 further on take the place of what is here, where the
   number has that bit. */
static void words_from(const struct formula *f, value number, value *taken)
{
    value words[WORDS];
    for (unsigned i = 0; i < WORDS; i++) words[i] = L(two_over_pi[i]);
    for (unsigned step = 16; step; step /= 2) {
        value is = formula_op(f, IR_OP_INE, IR_KIND_BOOL, 2, (value[]){LONG2(AND, number, L(step)), L(0)});
        for (unsigned i = 0; i < TAKEN + step - 1 && i + step < WORDS; i++)
            words[i] = SELECT(is, words[i + step], words[i]);
    }
    for (unsigned i = 0; i < TAKEN; i++) taken[i] = words[i];
}

/* 64 bits of two words from the bit `by` on. */
static value bits_of(const struct formula *f, value word, value next, value by)
{
    value down = LONG2(LSHR, LONG2(LSHR, next, L(1)), LONG2(SUB, L(63), by));
    return LONG2(OR, LONG2(SHL, word, by), down);
}

struct turns {
    value high, low; /* i64: quarter turns in units of 2^-62 and of 2^-126, modulo 4 */
};

/* x is m 2^e. Of m times 2/pi times 2^e only what is left modulo 4 matters: of 2/pi the bits from number e - 2 behind
   the point on. */
static struct turns turns_of(const struct formula *f, value x)
{
    value bits = BITS(IR_KIND_I64, OP1(FABS, x)), words[TAKEN], part[3];
    value e = LONG2(SUB, LONG2(LSHR, bits, L(52)), L(1023 + 52));
    value m = LONG2(OR, LONG2(AND, bits, L(0xfffffffffffff)), L(0x10000000000000));
    value from = LONG2(ADD, e, L(64 - 2)), by = LONG2(AND, from, L(63));
    words_from(f, LONG2(LSHR, from, L(6)), words);
    for (unsigned i = 0; i < 3; i++) part[i] = bits_of(f, words[i], words[i + 1], by);
    value low = LONG2(ADD, LONG2(MUL, m, part[1]), LONG2(UMUL_HI, m, part[2]));
    value carry = formula_op(f, IR_OP_ULT, IR_KIND_BOOL, 2, (value[]){low, LONG2(MUL, m, part[1])});
    value high = LONG2(ADD, LONG2(MUL, m, part[0]), LONG2(UMUL_HI, m, part[1]));
    return (struct turns){LONG2(ADD, high, SELECT(carry, L(1), L(0))), low};
}

static value half_word(const struct formula *f, value word, bool upper, double unit)
{
    value half = upper ? LONG2(LSHR, word, L(32)) : LONG2(AND, word, L(0xffffffff));
    return OP2(FMUL, OP1(STOF, half), C(unit));
}

/* What is left has its sign; from its size, in four halves of words, comes the pair, and that times pi/2. */
struct spw_angle spw_large_angle(const struct formula *f, value x)
{
    struct turns t = turns_of(f, x);
    value quarter = LONG2(LSHR, LONG2(ADD, t.high, L(1ull << 61)), L(62));
    value high = LONG2(SUB, t.high, LONG2(SHL, quarter, L(62))), sign = LONG2(ASHR, high, L(63)), low = t.low;
    high = LONG2(XOR, high, sign); /* one less than the size at most, in the last of 126 bits */
    low = LONG2(XOR, low, sign);
    struct spw_pair first = spw_ordered_sum(f, half_word(f, high, true, 0x1p-30), half_word(f, high, false, 0x1p-62));
    struct spw_pair second = spw_ordered_sum(f, first.high, OP2(FADD, first.low, half_word(f, low, true, 0x1p-94)));
    struct spw_pair rest = {second.high, OP2(FADD, second.low, half_word(f, low, false, 0x1p-126))};
    rest = spw_pair_times(f, rest, (struct spw_pair){C(0x1.921fb54442d18p+0), C(0x1.1a62633145c07p-54)});
    value negative = IS2(XOR, IS1(SIGNBIT, x), formula_op(f, IR_OP_INE, IR_KIND_BOOL, 2, (value[]){sign, L(0)}));
    quarter = SELECT(IS1(SIGNBIT, x), LONG2(SUB, L(0), quarter), quarter);
    return (struct spw_angle){quarter, SELECT(negative, OP1(FNEG, rest.high), rest.high),
                              SELECT(negative, OP1(FNEG, rest.low), rest.low), true};
}
