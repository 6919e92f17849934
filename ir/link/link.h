/* Linking: several modules become one. docs/ir.md, "Linking", has the rules. */
#pragma once

#include "ir/base/diag.h"
#include "ir/core/ir.h"

/* Links n valid modules, which stay as they are but for their scratch. NULL on any error, with a finding for each;
   the result has passed ir_verify(). A module without a name is called by its number in messages, from 1. */
struct ir_module *ir_link(const struct ir_module *const *modules, size_t n, const char *name, struct diag_list *list);

/* An instruction of a function, or of one that it calls, that needs an imported function or variable. NULL: none does. */
const struct ir_inst *ir_find_import(const struct ir_function *f);

/* The function, or one that it calls, that is refused; looked for no further than up to the first import. NULL: none. */
const struct ir_function *ir_find_refused(const struct ir_function *f);

/* Kernels, exported and imported functions without a sub-group size get this one. */
void ir_default_sub_group_size(struct ir_module *m, uint32_t size);
/* "16", "automatic" or "primary" as ir_function.sub_group_size has it. False: it is none of these. */
bool ir_sub_group_size_parse(const char *text, uint32_t *size);
