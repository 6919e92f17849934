/* A loop that each lane runs by itself, one after the other, in the midst of code for all of them. */
#pragma once

#include "fuser/cpu/simd/lane_loop.h"
#include "fuser/cpu/simd/lanes.h"

struct lane_value;

struct lane_by_lane {
    struct lane_loop lanes;
    const struct ir_inst *loop;
    struct lane_value *values; /* what it uses of the code around it */
    uint32_t n_values;
    lval **results; /* by result and component: an array of all lanes, or a variable */
    struct uniformity uniformity;
    struct mask exec;
    unsigned width;
    rval item;
};

bool lane_by_lane_pays(const struct emit *e, const struct ir_inst *loop);
/* Between begin and end code is emitted for one work-item: that of one lane after the other, of those that run. Then
   the loop's results are defined for all of them. */
void lane_by_lane_begin(struct emit *e, struct lane_by_lane *each, const struct ir_inst *loop);
void lane_by_lane_end(struct emit *e, struct lane_by_lane *each);
