/* Comparisons of ids, as in `x > 0 && x < n - 1` and clamp(x, 0, n - 1), and quotients, as in i / width: each comes to
 * the same for long parts of a row. */
#pragma once

#include "fuser/cpu/jit/emit.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/passes/loops/loop_range.h"

enum { LONGEST_KNOWN_ROW = 1024 }; /* whose tests are evaluated work-item by work-item */

enum wanted { ANY_OUTCOME, TRUE_WANTED, FALSE_WANTED };

struct row_test {
    enum ir_op op;
    const struct ir_value *sides[2];
    unsigned moves;                 /* the side that grows along the row; the other stays */
    const struct ir_value *carried; /* the loop's value that the moving side counts with; NULL: none */
    bool falls;                     /* it counts down with it */
    enum wanted wanted;             /* else work-items are not alike */
    const struct ir_inst *made;     /* the comparison, quotient or remainder itself; NULL: it is none of the kernel's */
    lval holds;                     /* what it comes to: a bool, or the quotient; NULL: nobody asks */
};

/* The tests that count with a loop, or with none, and what computes their sides, in order. */
struct row_test_group {
    const struct ir_value *carried;
    struct loop_range range;
    uint32_t n_needed, n_of_range; /* the first of them compute the range */
    const struct ir_inst **needed;
};

struct row_tests {
    uint32_t n, n_groups;
    struct row_test *tests;
    struct row_test_group *groups;
    struct assumed *assumed;      /* by instruction number: of work-items for whom each test comes to the same */
    lval *known;                  /* by instruction number: what it comes to; NULL: it is none of them */
    struct uniformity sides;      /* where quotients stay the same: of what tests compare */
    struct uniformity uniformity; /* under all of these assumptions */
};

bool row_test_is_equality(enum ir_op op);
bool row_test_is_quotient(enum ir_op op); /* or remainder */
bool row_test_is_remainder(enum ir_op op);
bool row_test_is_unsigned(enum ir_op op);
/* Of a quotient or remainder; 0: no constant, or none of which remainders grow. */
uint64_t row_test_divisor(const struct row_test *t);
/* What a comparison comes to for a work-item where that follows from its local id in a dimension; of a quotient or a
   remainder the multiple that it goes by. */
bool row_test_at(const struct row_test *t, unsigned dim, uint32_t item, uint64_t *outcome);
/* Those in the instructions up to `end` that much depends on; along: a row, or a column. */
struct row_tests row_tests_find(struct emit *e, const struct ir_inst *first, const struct ir_inst *end,
                                enum together along);
/* Whether each comes to something else between whole vectors only, as `local_id < 64` does. */
bool row_tests_spare_vectors(const struct emit *e, const struct row_tests *t);
