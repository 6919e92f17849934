/* What is printed to, and what a name in a function stands for. */
#pragma once

#include "ir/base/strbuf.h"
#include "ir/core/ir.h"

/* Numbers of a function's unnamed values, in an open hash table: scratch belongs to the running pass. */
struct numbers {
    const struct ir_value **values;
    uint32_t *number;
    size_t n, capacity; /* a power of two */
};

struct printer {
    struct strbuf out;
    const struct ir_module *m;
    struct numbers numbers;
    struct ir_loc loc; /* what an instruction without a mark has */
    bool no_locations; /* for single functions and instructions */
    unsigned depth;
};
