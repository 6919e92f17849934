/* Makes instructions. */
#pragma once

#include "ir/core/objects.h"

/* Puts instructions at the end of a block, or before `before` when that is set. */
struct ir_builder {
    struct ir_module *module;
    struct ir_block *block;
    struct ir_inst *before;
    struct ir_loc loc; /* given to each new instruction */
};

struct ir_builder ir_builder_at_end(struct ir_block *block);
struct ir_builder ir_builder_before(struct ir_inst *inst);

/* The general maker: an instruction with its operands and, where the table says which, its result.
   type is T (IR_VOID where the op has none). Attributes are zero: set them on the instruction after.
   For space-typed results ('A') the space must be passed through ir_build_ptr. */
struct ir_inst *ir_build(struct ir_builder *b, enum ir_op op, ir_type type, struct ir_value *const *operands,
                         uint32_t n);
struct ir_inst *ir_build_ptr(struct ir_builder *b, enum ir_op op, ir_type type, enum ir_space space,
                             struct ir_value *const *operands, uint32_t n);
/* Shorthands for the result of ops with 0 to 3 operands. */
struct ir_value *ir_build0(struct ir_builder *b, enum ir_op op, ir_type type);
struct ir_value *ir_build1(struct ir_builder *b, enum ir_op op, ir_type type, struct ir_value *x);
struct ir_value *ir_build2(struct ir_builder *b, enum ir_op op, ir_type type, struct ir_value *x, struct ir_value *y);
struct ir_value *ir_build3(struct ir_builder *b, enum ir_op op, ir_type type, struct ir_value *x, struct ir_value *y,
                           struct ir_value *z);
struct ir_value *ir_build_id(struct ir_builder *b, enum ir_op op, unsigned dim); /* global_id and its like */
struct ir_value *ir_build_load(struct ir_builder *b, ir_type type, struct ir_value *base,
                               struct ir_value *index); /* index NULL: none */
void ir_build_store(struct ir_builder *b, ir_type type, struct ir_value *base, struct ir_value *index,
                    struct ir_value *value);
struct ir_value *ir_build_global(struct ir_builder *b,
                                 struct ir_global *g); /* its address; a pipe's is the pipe itself */
struct ir_inst *ir_build_call(struct ir_builder *b, struct ir_function *callee, struct ir_value *const *operands,
                              uint32_t n);
/* if and loop with empty blocks; result types must be known here. A loop's block parameters have the
   types of the operands. */
struct ir_inst *ir_build_if(struct ir_builder *b, struct ir_value *cond, const ir_type *result_types,
                            uint32_t n_results);
struct ir_inst *ir_build_loop(struct ir_builder *b, struct ir_value *const *init, uint32_t n_init,
                              const ir_type *result_types, uint32_t n_results);
