/* The text form read. docs/ir.md is its reference. */
#pragma once

#include "ir/base/diag.h"
#include "ir/core/ir.h"

/* Reads text of n bytes (no terminator needed). file is used as source file of the locations where
   the text carries none: each instruction gets the line it stands on. NULL on any error, with a
   finding (line and column) for each one found; the result has passed ir_verify(). */
struct ir_module *ir_parse(const char *text, size_t n, const char *file, struct diag_list *list);
