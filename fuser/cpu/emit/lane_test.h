/* What a condition comes to in all lanes, by comparing scalars. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

struct lane_test {
    rval all, none; /* bools: it holds for all lanes, for none */
};
/* Whether scalars decide: it is made of comparisons of what grows from lane to lane with what is the same for all. */
bool lane_test_applies(const struct emit *e, const struct ir_value *condition);
struct lane_test lane_test(struct emit *e, const struct ir_value *condition);
/* Makes the condition's masks once more, where they are needed: for seldom they are. */
void lane_test_make_masks(struct emit *e, const struct ir_value *condition);
