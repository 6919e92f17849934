/* Changes to what is built already, and the walk over it. */
#pragma once

#include "ir/core/objects.h"

/* The function can be named but not used: a body that cannot be read takes nothing from the rest of its module. */
void ir_function_refuse(struct ir_function *f, const char *why);

/* The base for `name` not used by another value of f: name itself or name.1, name.2 ... NULL clears. */
void ir_value_set_name(struct ir_function *f, struct ir_value *v, const char *name);
void ir_inst_remove(struct ir_inst *inst); /* unlinks; its results must have no uses left */
void ir_inst_move_before(struct ir_inst *inst, struct ir_inst *before);
/* Every operand in block (and the blocks inside) that is `from` becomes `to`. */
void ir_replace_uses(struct ir_block *block, const struct ir_value *from, struct ir_value *to);
/* Calls visit for each instruction of block and of the blocks inside it, outer before inner, in order.
   visit may remove the instruction it is given. */
void ir_walk(struct ir_block *block, void (*visit)(struct ir_inst *inst, void *data), void *data);
/* How many instructions such a walk visits. */
uint32_t ir_count(struct ir_block *block);
/* A new last parameter. name: NULL is none; taken ones are followed by a number. */
struct ir_value *ir_function_add_param(struct ir_function *f, const char *name, ir_type type);
