/* What printer and parser of the text form must agree on: words, and the types that literals take. */
#pragma once

#include "ir/core/ir.h"

/* Words by the value of their enum; NULL: no word for it. */
extern const char *const ir_space_words[IR_SPACE_COUNT];
extern const char *const ir_scope_words[IR_SCOPE_COUNT];
extern const char *const ir_order_words[IR_ORDER_COUNT];
extern const char *const ir_rounding_words[IR_ROUND_COUNT];
extern const char *const ir_group_words[IR_GROUP_OP_COUNT];
extern const char *const ir_access_words[IR_ACCESS_COUNT];
extern const char *const ir_image_words[IR_IMAGE_FORM_COUNT];
extern const char *const ir_dim_words[3];
extern const char *const ir_scalar_words[IR_KIND_COUNT]; /* void, bool, i8 ... f64, sampler */
/* By bit number. */
enum { IR_FP_WORDS = 5, IR_FENCE_WORDS = 3 };
extern const char *const ir_fp_words[IR_FP_WORDS];
extern const char *const ir_fence_words[IR_FENCE_WORDS];

/* The type of a literal without one as operand i of an ordinary op of type t, whose operand 0 is `first` (NULL: not
   there yet); IR_VOID: it needs one. */
ir_type ir_operand_type(enum ir_op op, ir_type t, const struct ir_value *first, uint32_t i);
/* The same for yield, break, continue and return in a block, and for the arguments of a call. */
ir_type ir_carried_type(const struct ir_block *block, enum ir_op op, uint32_t i);
ir_type ir_argument_type(const struct ir_function *callee, uint32_t i);
/* How many operands an op may have; UINT32_MAX: any number. */
void ir_operand_count(enum ir_op op, uint32_t *least, uint32_t *most);
/* The scope of an op where the text names none. */
enum ir_scope ir_default_scope(enum ir_op op);
/* The innermost loop around the end of a block, or NULL. */
struct ir_inst *ir_loop_around(const struct ir_block *block);
