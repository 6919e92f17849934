/* Modules and what they own: files, variables, functions. */
#pragma once

#include "ir/core/objects.h"

struct ir_module *ir_module_new(const char *name);
void ir_module_free(struct ir_module *m); /* NULL is fine */

uint32_t ir_module_file(struct ir_module *m, const char *path); /* interned; for ir_loc.file */
/* The source file of a location, where that is another than the one the module is called by; else NULL. */
const char *ir_loc_file(const struct ir_module *m, struct ir_loc loc);
/* "line 12", or "kernels.cl:12" where ir_loc_file() names a file; "an unknown line". Gives buf. */
const char *ir_loc_text(const struct ir_module *m, struct ir_loc loc, char *buf, size_t size);
struct ir_global *ir_global_new(struct ir_module *m, const char *name, enum ir_space space, ir_type type);
/* One more address in the initial value of g; once all are there, they are brought into their order. */
void ir_global_add_address(struct ir_module *m, struct ir_global *g, const struct ir_address *address);
void ir_global_sort_addresses(struct ir_global *g);

struct ir_function *ir_function_new(struct ir_module *m, const char *name, enum ir_linkage linkage, ir_type result,
                                    uint32_t n_params);
/* An empty body for it. */
struct ir_block *ir_body_new(struct ir_function *f);
void ir_function_set_param(struct ir_function *f, uint32_t i, const char *name, ir_type type);
struct ir_function *ir_module_find(const struct ir_module *m, const char *name); /* NULL: none */
const struct ir_function *ir_module_only_kernel(const struct ir_module *m);      /* NULL: none, or several */
struct ir_struct *ir_module_find_struct(const struct ir_module *m, const char *name);
struct ir_global *ir_module_find_global(const struct ir_module *m, const char *name);
