/* Whether a loop takes less time if each lane runs it by itself. */
#pragma once

#include "fuser/cpu/prepare/uniformity.h"

/* What the code would be otherwise. */
struct lane_cost_of {
    const struct uniformity *uniformity;
    const struct ir_module *module;
    unsigned width, vector_bytes;
    bool gathers; /* numbers of 4 and 8 bytes that lie anywhere come by one instruction */
};

bool lane_cost_favours_each(const struct lane_cost_of *c, const struct ir_inst *loop);
