/* Whether work-items run by tiles, and which accesses are those of a tile. */
#pragma once

#include "fuser/cpu/work_group/row_tests.h"

struct tiles {
    bool *accesses;               /* by instruction number; NULL: there are none */
    struct row_tests columns;     /* comparisons that come to the same for long parts of a column */
    struct uniformity uniformity; /* of a column, where they do */
};

/* Whether there may be some, at a glance. */
bool tiles_may_pay(struct emit *e, const struct ir_inst *first, const struct ir_inst *end);
/* In the instructions up to `end`; rows: their tests along a row. */
struct tiles tiles_find(struct emit *e, const struct ir_inst *first, const struct ir_inst *end,
                        const struct row_tests *rows);
/* How many work-items from one on, at most it and `others`, have rows of a tile for which each test comes to the same.
 */
rval tiles_alike(struct emit *e, const struct tiles *tiles, const struct row_tests *rows, rval others);
