/*
 * Integers along the rows of a launch: value * den is num * row + an amount from low to high. Rows are counted from 0
 * to last_row. num 0: a mere interval, den being 1.
 */
#pragma once

#include "fuser/passes/integers/interval.h"

struct line {
    int64_t num, den; /* den > 0 */
    int64_t low, high;
};

struct line line_flat(struct interval range);
/* Each gives false where it would overflow. */
bool line_add(const struct line *a, const struct line *b, struct line *sum);
bool line_scale(const struct line *a, int64_t factor, struct line *product);
/* The quotient by a number above 0, rounded down. */
bool line_quotient(const struct line *a, int64_t divisor, struct line *quotient);

enum line_choice { LINE_SMALLER, LINE_LARGER, LINE_EITHER };
/* One of the two numbers, as seen from the slope of a. */
bool line_choose(const struct line *a, const struct line *b, enum line_choice which, int64_t last_row,
                 struct line *chosen);
/* The one of the two that leaves less open. */
struct line line_tighter(struct line a, struct line b);

/* What the value is no less than in a row, and no more than. */
__int128 line_low(const struct line *l, int64_t row);
__int128 line_high(const struct line *l, int64_t row);
