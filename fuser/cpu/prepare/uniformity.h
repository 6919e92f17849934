/*
 * What a value is for the work-items that run together: the same for all (uniform), lane 0's plus a constant step
 * (linear), or anything (varying); and in which ifs and loops they may diverge.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/core/ir.h"

enum shape_kind { SHAPE_UNIFORM, SHAPE_LINEAR, SHAPE_VARYING };

struct shape {
    enum shape_kind kind;
    int64_t stride;
    bool wraps; /* linear but for multiples of 2^32, as narrow integers wrap on the way from lane to lane: as an address
                   it is linear, for no memory reaches from one side to the other */
};

struct uniformity {
    uint32_t n_values, n_insts;
    struct shape *values; /* by ir_value.scratch */
    bool *small;          /* pointers, likewise: they lead into small memory (small_memory.h) */
    bool *divergent;      /* if and loop, by number: lanes may diverge in it */
};

/* The work-items of whom it is asked what is the same for them. */
enum together {
    TOGETHER_ONE,    /* one alone */
    TOGETHER_ROW,    /* some that follow one another in x */
    TOGETHER_COLUMN, /* some that follow one another in y */
    TOGETHER_FLAT,   /* some whose linear local ids follow one another */
    TOGETHER_GROUP,  /* all of a work-group, in any order */
    TOGETHER_GROUPS, /* some at the same place of work-groups that follow one another in x, each with work-group memory
                        of its own where they may not put the same numbers into it */
};
/* Numbers values and instructions (in scratch and in the order of ir_walk) and finds their shapes. */
void uniformity_find(struct uniformity *u, struct arena *arena, struct ir_function *kernel, enum together together);

/* What is assumed of an instruction's result. */
struct assumed {
    bool uniform;                    /* it is the same for all */
    const struct ir_value *same;     /* it is this operand; NULL: nothing */
    const struct ir_value *grows_as; /* it grows like this operand; NULL: nothing */
    unsigned factor;                 /* of a product: one operand is this number; 0: nothing */
};
/* The same under assumptions, by instruction number as found before. */
void uniformity_find_where(struct uniformity *u, struct arena *arena, struct ir_function *kernel,
                           enum together together, const struct assumed *assumed);

/* The work-items of a group, each of which has private variables of its own; 0: not known. */
uint64_t private_group_items(const struct ir_function *kernel);

/* Where private variables lie (work_group/lane_arrays.h): from a work-item's to the next one's, in bytes, */
uint64_t private_item_step(const struct ir_inst *var);
/* what any `elem` multiplies its index by, */
uint64_t private_element_step(const struct ir_inst *elem);
/* and the numbers that arrays, or arrays of arrays, are of. */
ir_type private_array_leaf(const struct ir_module *module, ir_type t);
