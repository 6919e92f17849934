/* Who defines what. */
#pragma once

#include "ir/link/linker.h"

/* Finds the definitions. Reports two of the same name. */
void link_symbols(struct linker *l);
/* What an import, or one of several definitions that are the same by the promise of `once`, stands for. NULL: it is
   a definition itself, its module's own, or nobody's. */
struct link_symbol *link_function_stands_for(const struct linker *l, const struct ir_function *f);
struct link_symbol *link_variable_stands_for(const struct linker *l, const struct ir_global *g);
/* Reports imports that are used and defined nowhere, and those that differ from their definition. */
void link_check_imports(struct linker *l);
