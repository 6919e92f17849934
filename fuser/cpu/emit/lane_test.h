/* What a condition comes to in all lanes, by comparing scalars. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

struct lane_test {
    rval all, none; /* bools: it holds for all lanes, for none */
};
/* Whether scalars decide: it is made of comparisons of what grows from lane to lane with what is the same for all. */
bool lane_test_applies(const struct emit *e, const struct ir_value *condition);
struct lane_test lane_test(struct emit *e, const struct ir_value *condition);
/* What values were before masks were made of them. */
struct lane_masks {
    uint32_t n;
    struct lane_value {
        const struct ir_value *value;
        struct lanes *lanes;
    } * before;
};
/* Makes the condition's masks once more, where they are needed: for seldom they are. */
struct lane_masks lane_test_make_masks(struct emit *e, const struct ir_value *condition);
/* Where other ways join, on which they were not made: the values are what they were. */
void lane_test_forget_masks(struct emit *e, const struct lane_masks *masks);
/* Whether a condition compares ids, as `global_id < n` does: then it mostly holds for all work-items. */
bool lane_test_is_of_ids(const struct emit *e, const struct ir_value *condition);
