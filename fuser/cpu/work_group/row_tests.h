/* Comparisons of ids in the conditions of ifs, as in `x > 0 && x < n - 1`: each comes to the same for long parts of a
 * row. */
#pragma once

#include "fuser/cpu/jit/emit.h"
#include "fuser/cpu/prepare/uniformity.h"

struct row_tests {
    uint32_t n;
    struct row_test *tests;
    uint32_t n_needed;
    const struct ir_inst **needed; /* what computes their operands, in order */
    lval *known;                   /* by instruction number: what it comes to; NULL: it is none of them */
    struct uniformity uniformity;  /* of work-items for whom each of them comes to the same */
};

/* Those in the instructions up to `end` that much depends on. */
struct row_tests row_tests_find(struct emit *e, const struct ir_inst *first, const struct ir_inst *end);
/* Computes them for the work-item at e->ids. Returns how many of the `left` next ones in the row they are the same for,
   or fewer. */
rval row_tests_evaluate(struct emit *e, const struct row_tests *t, rval left);
