/* Initial values as text. */
#pragma once

#include "ir/base/strbuf.h"
#include "ir/core/ir.h"

/* The initial value of a variable: as numbers and addresses, or as raw bytes where those would lose something. */
void ir_print_init(struct strbuf *b, const struct ir_module *m, const struct ir_global *g);
