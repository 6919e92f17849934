/* Regions in which every so-manieth work-item of a row does something, as in `if (local_id % (2 * d) == 0)`. */
#pragma once

#include "fuser/cpu/jit/emit.h"

struct row_steps {
    uint32_t from, to, step; /* step 0: it is no such region */
    int8_t *decided;         /* by instruction number: the condition holds */
};

/* Of the instructions up to `end`, where these work-items are known and take less time one by one. */
struct row_steps row_steps_find(struct emit *e, const struct ir_inst *first, const struct ir_inst *end);
