/* Loops in which a work-group goes over a row: `for (j = local_id; j < n; j += local_size)`. */
#pragma once

#include "ir/core/ir.h"

enum { ROW_MOST_ROUNDS = 8, ROW_LONGEST = INT32_MAX };

struct row_loop {
    struct ir_inst *compared; /* the counter, or what it is next, with the end of the row, */
    struct ir_value *end;     /* which is this without its conversions */
    uint64_t step;
};

/* Of a loop that is left by one test and goes on in one place. The counter is far from where it would wrap as long as
   the row is no longer than ROW_LONGEST and has few rounds: the higher the local id, the fewer. */
bool row_loop_read(const struct ir_inst *test, const struct ir_inst *next, struct row_loop *row);
/* Whether work-items of a group wait for each other somewhere. */
bool row_loops_meet(const struct ir_function *f);
