/* Lanes that take the values of other lanes. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* One or two values whose lanes follow one another. */
struct permute_table {
    unsigned n;
    const struct lanes *values[2];
};
/* Lane i is number from[i] of the table. */
struct lanes permute_known(struct emit *e, const struct permute_table *t, const unsigned *from);
/* Of n tables of the same kind and size, the components of a vector: lane i of each is number index[i], an i32. */
void permute_lanes(struct emit *e, const struct permute_table *tables, unsigned n, const struct lanes *index,
                   struct lanes *result);
