/*
 * Work-items that run as one. Much of what a kernel loads and computes is often the same for some of its work-items.
 * There one becomes several: what is the same for them is there once, all else once for each. Control flow that is the
 * same for them is there once; an if or loop in which they may differ is copied for each. Work-items may be in any
 * order between barriers, and each has its own operations in theirs, so that nothing is computed otherwise than before.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fuser/cpu/prepare/uniformity.h"
#include "ir/base/arena.h"
#include "ir/core/ir.h"

enum { MOST_JOINED = 4 };

struct joined {
    struct ir_function *kernel;
    struct arena *arena;
    struct uniformity between; /* what is the same for those that run as one */
    unsigned n;                /* how many do */
    struct ir_value **of;      /* by value number times MOST_JOINED: what it is for each; NULL: the same for all */
    /* Gives the others theirs of what is not computed but asked for, as ids are; false: it is none of that. */
    bool (*ask)(const struct joined *j, struct ir_inst *inst);
};

/* What is asked for comes to the kernel's start, where all work-items come, linear ids taken apart: returns whether
   some did. Then finds what is the same. */
bool joined_begin(struct joined *j, struct ir_function *kernel, enum together together);
/* Makes the n one, and cleans up. */
void joined_make(struct joined *j);
void joined_end(struct joined *j);

bool joined_is_same(const struct joined *j, const struct ir_value *v);
/* Whether one does for all. */
bool joined_is_shared(const struct joined *j, const struct ir_inst *inst);
/* It stands where some of them may not come. */
bool joined_is_in_difference(const struct joined *j, const struct ir_inst *inst);
/* There is nothing in the kernel that must not be there several times. */
bool joined_is_possible(const struct joined *j);
void joined_set(const struct joined *j, const struct ir_value *v, unsigned which, struct ir_value *to);
