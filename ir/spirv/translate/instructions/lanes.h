/* Values of a sub-group's other work-items. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* Word number `word` of a mask whose first n bits are set. */
struct ir_value *spirv_low_bits(struct spirv_body *s, struct ir_value *n, unsigned k);
/* A shuffle by one value, or by two, with an integer of any width. */
struct ir_value *spirv_shuffle(struct spirv_body *s, enum ir_op op, struct ir_value *x, struct ir_value *id);
struct ir_value *spirv_shift(struct spirv_body *s, enum ir_op op, struct ir_value *x, struct ir_value *y,
                             struct ir_value *delta);
