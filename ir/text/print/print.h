/* The text form written. docs/ir.md is its reference. */
#pragma once

#include "ir/core/ir.h"

/* The module as text, to be freed by the caller. Parsing it gives an equal module. */
char *ir_print(const struct ir_module *m);
/* One function; one instruction on one line without its blocks (for messages). */
char *ir_print_function(const struct ir_function *f);
char *ir_print_inst(const struct ir_inst *inst);
