/*
 * Linking: several modules become one. docs/ir.md, "Linking", has the rules. In come valid modules; who defines what is
 * found by name, declarations are held against definitions, calls over all modules are looked at, and the result is
 * made and verified. unresolved.h and sub_group_size.h are for modules before and after that.
 */
#pragma once

#include "ir/base/diag.h"
#include "ir/core/ir.h"

/* Links n valid modules, which stay as they are but for their scratch. NULL on any error, with a finding for each;
   the result has passed ir_verify(). A module without a name is called by its number in messages, from 1. */
struct ir_module *ir_link(const struct ir_module *const *modules, size_t n, const char *name, struct diag_list *list);
