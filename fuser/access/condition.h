/* What is known of the work-items past a branch. */
#pragma once

#include "fuser/access/walk_state.h"

struct access_state {
    struct access_items items;
    bool conditional; /* something besides the items decides */
    bool unsure;      /* ... and besides the guards */
    const struct access_guard *guards;
    const struct ir_inst *loop; /* the innermost one; NULL: none */
};

void condition_assume(const struct access_walk *w, const struct ir_value *condition, bool taken,
                      struct access_state *state);
