/* What the passes share: numbers for values, replacement of values, and changes to the shape of if and loop. */
#pragma once

#include "ir/core/ir.h"

/* ---- numbers and replacement ---- */

/* Gives the parameters, block parameters and results of f the numbers 1, 2, ... in scratch; constants and
   undefs get 0, as has everything made later. Returns one more than the largest number. */
uint32_t pass_number(struct ir_function *f);
/* The same for what is inside of an if or loop of a function with numbers, from `next` on: those it had are forgotten.
 */
uint32_t pass_number_inside(const struct ir_inst *inst, uint32_t next);

/* Values that are to be replaced by others. Values without a number are never replaced. */
struct pass_map {
    struct ir_value **to; /* by number */
};

void pass_map_init(struct pass_map *map, struct ir_function *f); /* numbers f */
void pass_map_clear(struct pass_map *map);
void pass_map_set(struct pass_map *map, const struct ir_value *from, struct ir_value *to);
struct ir_value *pass_map_get(const struct pass_map *map, struct ir_value *v); /* itself where not replaced */
void pass_map_operands(const struct pass_map *map, struct ir_inst *inst);
void pass_map_all(const struct pass_map *map, struct ir_function *f);

/* How often each value is used as an operand, by number; to be freed. Numbers f. */
uint32_t *pass_count_uses(struct ir_function *f);

/* ---- facts ---- */

bool pass_is_pure(const struct ir_inst *inst); /* no effect, and equal operands give equal results */
bool pass_is_terminator(const struct ir_inst *inst);
/* Of what is around it, it sees memory and the ND-range at most: no work-group, no other work-item, nobody outside. */
bool pass_is_by_itself(const struct ir_inst *inst);
/* It is computed from where its work-item is, or loaded from there: others may have another one. */
bool pass_is_of_id(const struct ir_value *v);
/* A T in memory can be read as a U: both have the same size, and all of its bits count. */
bool pass_same_bits(ir_type t, ir_type u);
/* Instructions of one operation that compute the same from the same operands. */
bool pass_same_attrs(const struct ir_attrs *a, const struct ir_attrs *b);
/* The instruction or one inside it has op. */
bool pass_contains(const struct ir_inst *inst, enum ir_op op);
/* One of its blocks leaves it by break, continue or return for a place outside of it. */
bool pass_leaves(const struct ir_inst *inst);
/* The value is made inside the instruction's blocks. */
bool pass_is_inside(const struct ir_value *v, const struct ir_inst *inst);

/* ---- shape ---- */

void pass_operands_set(struct ir_inst *inst, struct ir_value *const *operands, uint32_t n);
void pass_operand_add(struct ir_inst *inst, struct ir_value *v);
void pass_operand_remove(struct ir_inst *inst, uint32_t i);
struct ir_value *pass_result_add(struct ir_inst *inst, ir_type type);
void pass_result_adopt(struct ir_inst *inst, struct ir_value *result); /* another instruction's, now the last here */
void pass_result_remove(struct ir_inst *inst, uint32_t i);
struct ir_value *pass_arg_add(struct ir_block *block, ir_type type);
void pass_arg_remove(struct ir_block *block, uint32_t i);

/* Instructions from first to the end of its block go to the end of `to`; first may be NULL. */
void pass_move_tail(struct ir_inst *first, struct ir_block *to);
/* Instructions from first up to, but not with, its block's terminator go before `before`. */
void pass_move_body(struct ir_inst *first, struct ir_inst *before);
/* Unlinks first and what follows it in its block; first may be NULL. */
void pass_cut_tail(struct ir_inst *first);
/* The visitor sees each break and continue of a loop and each return in its body, but not what stands in
   inner loops. */
void pass_walk_exits(struct ir_block *body, void (*visit)(struct ir_inst *inst, void *data), void *data);
