/* The text form (docs/ir.md): written by people, printed by tools; both directions are exact. */
#pragma once

#include "ir/base/diag.h"
#include "ir/core/ir.h"

/* The module as text, to be freed by the caller. Parsing it gives an equal module. */
char *ir_print(const struct ir_module *m);
/* One function; one instruction on one line without its blocks (for messages). */
char *ir_print_function(const struct ir_function *f);
char *ir_print_inst(const struct ir_inst *inst);
/* A type as in the text form, into buf; returns buf. */
const char *ir_print_type(const struct ir_module *m, ir_type t, char *buf, size_t size);

/* Reads text of n bytes (no terminator needed). file is used as source file of the locations where
   the text carries none: each instruction gets the line it stands on. NULL on any error, with a
   finding (line and column) for each one found; the result has passed ir_verify(). */
struct ir_module *ir_parse(const char *text, size_t n, const char *file, struct diag_list *list);

/* Structural equality, names and locations included. For tests. */
bool ir_module_equal(const struct ir_module *a, const struct ir_module *b);
