/* The values of the kernel: what has been emitted for each, and the variables that joins of control flow assign to. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* By ir_value.scratch; as many lanes as the value has components. */
struct values {
    struct uniformity uniformity;
    struct uniformity flat_uniformity; /* of sub-groups that go on from row to row */
    struct lanes **lanes;
    struct lanes **shared; /* values of the work-group, the same for each item */
    struct lanes **sums;   /* of scans, what work-items before have added */
};

/* By instruction number, what is known of results where code is emitted; NULL: nothing. */
struct known {
    const lval *scalars;           /* computed already, the same for all lanes */
    const struct assumed *assumed; /* operands that they are */
    const int8_t *decided;         /* of comparisons, beforehand: 1 true, -1 false */
};

struct lanes *emit_value(struct emit *e, const struct ir_value *v); /* its components */
struct shape value_shape(const struct emit *e, const struct ir_value *v);
/* One variable for each component of n values, by their shapes. */
struct lanes **value_variables(struct emit *e, struct ir_value **values, uint32_t n);
void value_define(struct emit *e, struct ir_value **values, uint32_t n, struct lanes **as);
/* Takes the result from what is known; false: nothing is. */
bool value_define_known(struct emit *e, const struct known *known, const struct ir_inst *inst);
/* It is a place of the work-group at a known distance from another, and part of each access: computed before, it would
   take a register. */
bool value_is_at_distance(const struct emit *e, const struct ir_inst *inst);
/* What an if's condition is known to come to: 1, -1, or 0 where it is not. */
int known_outcome(const struct known *known, const struct ir_value *condition);
/* Assigns all operands of an instruction at once: one may be a variable that another one is assigned to. */
void value_assign_operands(struct emit *e, const struct ir_inst *terminator, struct lanes **to,
                           const struct mask *mask);
