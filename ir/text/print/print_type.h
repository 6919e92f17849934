/* Types and constants as text. */
#pragma once

#include "ir/base/strbuf.h"
#include "ir/core/ir.h"

/* A type as in the text form, into buf; returns buf. */
const char *ir_print_type(const struct ir_module *m, ir_type t, char *buf, size_t size);
void ir_print_type_to(struct strbuf *b, const struct ir_module *m, ir_type t);
/* A constant of a number type, without its type. */
void ir_print_lanes(struct strbuf *b, ir_type t, const uint64_t *lanes);
