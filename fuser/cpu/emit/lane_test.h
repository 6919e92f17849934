/* What a comparison comes to in all lanes, by comparing scalars. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

struct lane_test {
    rval all, none; /* bools: it holds for all lanes, for none */
    bool ends_row;  /* where it holds for none, it does not in the rest of the row either */
};
bool lane_test(struct emit *e, const struct ir_value *condition, struct lane_test *t); /* false: masks are needed */
