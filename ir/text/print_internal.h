/* What the printer's files share. */
#pragma once

#include "ir/core/ir.h"
#include "ir/text/number.h"
#include "ir/base/strbuf.h"

void ir_print_type_to(struct strbuf *b, const struct ir_module *m, ir_type t);
/* A constant of a number type, without its type. */
void ir_print_lanes(struct strbuf *b, ir_type t, const uint64_t *lanes);
/* The initial value of a variable: as numbers and addresses, or as raw bytes where those would lose something. */
void ir_print_init(struct strbuf *b, const struct ir_module *m, const struct ir_global *g);
