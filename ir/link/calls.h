/* Calls over all modules. */
#pragma once

#include "ir/link/linker.h"

/* The graph of calls over all modules. */
void link_calls(struct linker *l);
/* The node that a node stands for: itself, or where an import is defined. */
size_t link_definition(const struct linker *l, size_t node);
/* Reports functions that call each other in a circle. */
void link_check_recursion(struct linker *l);
