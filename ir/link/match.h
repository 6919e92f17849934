/* Declarations and their definitions. */
#pragma once

#include "ir/link/linker.h"

/* Reports where a declaration and its definition do not agree. */
void link_match_function(struct linker *l, uint32_t module, const struct ir_function *f, const struct link_symbol *s);
void link_match_variable(struct linker *l, uint32_t module, const struct ir_global *g, const struct link_symbol *s);
