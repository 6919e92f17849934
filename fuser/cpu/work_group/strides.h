/* Strides that only the run knows, as those of a tree whose distances double: the code for the small ones. */
#pragma once

#include "fuser/cpu/work_group/row_tests.h"

enum { MOST_STRIDES = 3 };

/* A number that ids are multiplied with, and what is known of the row where it is 1, 2 ... */
struct strides {
    const struct ir_value *factor;
    unsigned n;                /* cases that lanes are near each other in; 0: there is none */
    uint64_t is[MOST_STRIDES]; /* its value in each case: what ids are shifted by, or multiplied with */
    const struct assumed *assumed[MOST_STRIDES]; /* by instruction number, with what holds of each row */
    struct uniformity uniformity[MOST_STRIDES];
};

/* Of the instructions up to `end`, whose work-items would run one by one else. */
struct strides strides_find(const struct emit *e, const struct ir_inst *first, const struct ir_inst *end,
                            const struct row_tests *tests);
