/*
 * How far the rows of a launch reach: which bytes of each parameter a row of work-groups may touch.
 *
 * A launch's work-groups run in the order of their linear numbers, so those along its last dimension that has several
 * are rows. This room follows a kernel's integers as lines over the number of the row (line.h), through clamps, halves
 * and doubles, and says of each pointer parameter between which lines its accesses are. Uses passes/ for what is known
 * of integers, and ir/.
 */
#pragma once

#include "fuser/bands/line.h"
#include "ir/base/nd_range.h"

/* One or several accesses: in row r they touch bytes from line_low(at, r) up to line_high(at, r) of the parameter, that
   one not included, and none outside of [first, end). */
struct band_reach {
    uint32_t param;
    bool reads, writes;
    struct line at;
    int64_t first, end;
};

struct band_reaches {
    uint64_t rows, groups_of_row;
    uint32_t n;
    struct band_reach *reaches;
};

struct arena;

/* The kernel is cleaned up. numbers: by parameter, what integers are taken to be; 0: nothing. False: something that the
   kernel touches, or does, is not seen. */
bool band_reaches_find(const struct ir_function *kernel, const struct nd_range *range, const int64_t *numbers,
                       struct arena *arena, struct band_reaches *out);
