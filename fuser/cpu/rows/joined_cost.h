/* What is gained where work-items run as one, and what it takes. */
#pragma once

#include "fuser/cpu/rows/joined.h"

/* Of a vector of work-items in half cycles, in loops for more. */
struct joined_cost {
    uint64_t shared, all;           /* of what is the same for them, and of everything */
    uint64_t scalars;               /* of what is the same and one number for the vector: in neither of them */
    uint64_t along_row, along_next; /* accesses alone, by where neighbours are: in a row, or among the joined */
    unsigned alive;                 /* the most vectors that differ and are needed at the same time */
};

struct joined_cost joined_cost_find(const struct joined *j);
