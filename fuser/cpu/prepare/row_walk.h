/* Loads in a loop by which each lane walks along a row of its own: number by number, round by round. */
#pragma once

#include "fuser/cpu/prepare/loop_test.h"
#include "fuser/cpu/prepare/uniformity.h"

struct row_walk {
    struct loop_test exit;
    uint32_t counter;  /* which of the loop's arguments counts the rounds, by ones */
    struct less less;  /* as long as it holds, there are more rounds */
    bool tests_before; /* a test at the end is of the counter's value in this round, not in the next */
};

/* Whether a load is one, of what the kernel only reads, in each round of a loop that lanes leave together. */
bool row_walk_find(const struct uniformity *u, const struct ir_inst *load, struct row_walk *found);
