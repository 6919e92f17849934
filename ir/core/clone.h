/* Copying parts of one module into another: what ir_function_copy() and the linker stand on. */
#pragma once

#include "ir/core/objects.h"

/* What each object of the source has become in the target so far. */
struct ir_copy;

/* Numbers the functions and variables of the source in their scratch, where the numbers must stay. */
struct ir_copy *ir_copy_open(struct ir_module *into, const struct ir_module *from);
void ir_copy_close(struct ir_copy *c); /* NULL is fine */

/* The type in the target: structs with the same name and fields become one, others of that name a new name. */
ir_type ir_copy_type(struct ir_copy *c, ir_type t);
/* A new variable; a new function. The name must be free. Addresses in the variable's initial value and the function's
   body follow with ir_copy_bodies(). */
struct ir_global *ir_copy_global(struct ir_copy *c, const struct ir_global *g, const char *name);
struct ir_function *ir_copy_signature(struct ir_copy *c, const struct ir_function *f, const char *name);
/* An object of the source is one that the target has already. */
void ir_copy_set_function(struct ir_copy *c, const struct ir_function *f, struct ir_function *to);
void ir_copy_set_global(struct ir_copy *c, const struct ir_global *g, struct ir_global *to);
/* The bodies of all functions, and the addresses in all variables, copied so far. What they name is mapped, found in
 * the target or copied too. */
void ir_copy_bodies(struct ir_copy *c);

/* name, name.1, name.2 ...: the i-th name to try for a copy. */
char *ir_copy_name(struct ir_module *m, const char *name, unsigned i);

/* A deep copy of a function into a module (which may be its own), with the functions, structs, globals
   it needs found or copied too. */
struct ir_function *ir_function_copy(struct ir_module *into, const struct ir_function *f, const char *name);
