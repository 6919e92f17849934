/* The values that a loop counts through. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/core/ir.h"

struct loop_range {
    const struct ir_value *first; /* the smallest, unless the loop ends at once */
    const struct ir_value *bound; /* none is larger than this plus the step */
    uint64_t step;
    bool is_met; /* it ends when the next value is equal to the bound, so the first must be smaller */
};

/* Of a value that the loop carries and adds a constant to in each round. False: no such range is found. */
bool loop_range_find(const struct ir_value *carried, struct loop_range *range);
