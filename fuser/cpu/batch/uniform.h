/* Which values are the same for all work-items of a batch, and in which ifs and loops they may go different ways. */
#pragma once

#include "fuser/cpu/batch/code.h"

struct uniform {
    enum batch_unit unit;
    uint32_t n_values, n_insts;
    bool *varies;    /* by ir_value.scratch */
    bool *divergent; /* ifs and loops, by ir_inst.scratch */
    bool *returns;   /* loops: work-items return from inside of them while others go on */
    bool changed;
};

/* Numbers values and instructions of the functions, of which the first is the kernel. */
void uniform_find(struct uniform *u, struct arena *arena, struct ir_function *const *functions, uint32_t n);
bool uniform_is(const struct uniform *u, const struct ir_value *v);
/* A struct passed by value to the kernel that each work-item needs a copy of. */
bool uniform_by_value_copied(const struct ir_function *kernel, uint32_t param);
