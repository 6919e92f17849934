/*
 * Loops in which the work-items of a group go over a row together: `for (j = local_id; j < n; j += local_size)` and
 * their like, from a global id on, with any step that is the same for all.
 */
#pragma once

#include "fuser/cpu/prepare/loop_test.h"
#include "fuser/cpu/prepare/uniformity.h"

struct strided_loop {
    struct loop_test exit;
    struct ir_inst *guard;         /* the if around it that work-items may take differently; NULL: there is none */
    uint32_t counter;              /* which of the loop's arguments counts */
    struct ir_inst *id;            /* what it begins with: a local or global id ... */
    struct ir_value *offset;       /* ... and what is added to it in 64 bits; NULL: nothing */
    struct ir_value *step, *bound; /* the same for all */
    bool tests_next;               /* a test at the end is of the counter's next value */
    bool is_unsigned, up_to;       /* the comparison: <, or <= */
    bool guard_is_test;            /* the guard is the test that the first round would have */
};

/* What is known of a kernel. Instructions and values are numbered as there. */
struct strided_search {
    struct ir_function *kernel;
    struct uniformity row, group;
};

/* Whether a loop is one whose rounds the group can begin together, and in which neighbours access neighbours in memory.
 */
bool strided_loop_find(const struct strided_search *s, struct ir_inst *loop, struct strided_loop *found);
