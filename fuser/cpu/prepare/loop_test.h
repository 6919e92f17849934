/* How often a loop is left or goes on, and the test of one that has but one: what is compared, and where. */
#pragma once

#include <stdbool.h>

#include "ir/core/ir.h"

struct loop_exits {
    const struct ir_inst *loop;
    unsigned ways_back, breaks, returns;
};

struct loop_exits loop_exits_of(const struct ir_inst *loop); /* all in its body */
void loop_exits_add(struct loop_exits *x, const struct ir_inst *terminator);

struct loop_test {
    struct ir_inst *loop;
    struct ir_inst *test, *on, *out; /* the if that decides on the next round, its continue and its break */
    bool tests_first;                /* at the beginning of a round, so that there may be none */
};

/* Whether nothing else leaves a loop or goes on with it, and all is done before the test or after it. */
bool loop_test_find(struct ir_inst *loop, struct loop_test *found);

/* value < bound, or <= */
struct less {
    const struct ir_value *value, *bound;
    bool is_unsigned, up_to;
};
/* The condition of an if, or its contrary, as such a comparison. */
bool less_of_if(const struct ir_inst *inst, bool contrary, struct less *less);
/* The condition under which the loop goes on. */
bool less_of_loop(const struct loop_test *t, struct less *less);
