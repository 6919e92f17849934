/* Loads by which lanes walk along rows (prepare/row_walk.h), many rounds at once. */
#pragma once

#include "fuser/cpu/prepare/row_walk.h"
#include "fuser/cpu/simd/lanes.h"

struct walked_row {
    const struct row_walk *walk;
    const struct lanes *counter, *first, *bound; /* now, in the first round, and what it is compared with */
    enum ir_kind kind;
    struct lanes address; /* now */
    unsigned align;
};

bool walked_row_can_load(const struct emit *e, enum ir_kind kind);
struct lanes walked_row_load(struct emit *e, const struct walked_row *r);
