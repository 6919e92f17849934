/* Arithmetic of lines: in 128 bits, and given up where it does not fit into 64. */
#include "fuser/bands/line.h"

enum { MAX_DEN = 1 << 20 };

typedef __int128 wide;

static bool fits(wide v)
{
    return v >= INT64_MIN / 4 && v <= INT64_MAX / 4;
}

static bool make(wide num, wide den, wide low, wide high, struct line *out)
{
    if (!fits(num) || den > MAX_DEN || !fits(low) || !fits(high)) return false;
    *out = (struct line){(int64_t)num, (int64_t)den, (int64_t)low, (int64_t)high};
    return true;
}

static int64_t common(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

struct line line_flat(struct interval range)
{
    return (struct line){0, 1, range.low, range.high};
}

bool line_add(const struct line *a, const struct line *b, struct line *sum)
{
    wide x = b->den / common(a->den, b->den), y = a->den / common(a->den, b->den);
    return make(a->num * x + b->num * y, a->den * x, a->low * x + b->low * y, a->high * x + b->high * y, sum);
}

bool line_scale(const struct line *a, int64_t factor, struct line *product)
{
    wide low = (wide)a->low * factor, high = (wide)a->high * factor;
    return make((wide)a->num * factor, a->den, low < high ? low : high, low < high ? high : low, product);
}

/* What is lost by rounding is less than the divisor. */
bool line_quotient(const struct line *a, int64_t divisor, struct line *quotient)
{
    return make(a->num, (wide)a->den * divisor, a->low - (wide)a->den * (divisor - 1), a->high, quotient);
}

static wide smaller(wide a, wide b)
{
    return a < b ? a : b;
}

static wide larger(wide a, wide b)
{
    return a > b ? a : b;
}

/* a's amounts, and b's from the slope of a: of a line of another slope at the first and at the last row. */
bool line_choose(const struct line *a, const struct line *b, enum line_choice which, int64_t last_row,
                 struct line *chosen)
{
    wide low = a->low, high = a->high, x = a->den, y = b->den;
    wide turn = ((wide)b->num * x - (wide)a->num * y) * last_row;
    wide other_low = b->low * x + smaller(turn, 0), other_high = b->high * x + larger(turn, 0);
    low *= y;
    high *= y;
    if (which == LINE_SMALLER)
        return make(a->num * y, x * y, smaller(low, other_low), smaller(high, other_high), chosen);
    if (which == LINE_LARGER) return make(a->num * y, x * y, larger(low, other_low), larger(high, other_high), chosen);
    return make(a->num * y, x * y, smaller(low, other_low), larger(high, other_high), chosen);
}

struct line line_tighter(struct line a, struct line b)
{
    return ((wide)a.high - a.low) * b.den <= ((wide)b.high - b.low) * a.den ? a : b;
}

static wide floor_of(wide n, wide den)
{
    return n >= 0 ? n / den : -((den - 1 - n) / den);
}

__int128 line_low(const struct line *l, int64_t row)
{
    return -floor_of(-((wide)l->num * row + l->low), l->den);
}

__int128 line_high(const struct line *l, int64_t row)
{
    return floor_of((wide)l->num * row + l->high, l->den);
}
