/*
 * The verifier: reports every violation of docs/ir.md, not the first one only. A module goes in that nothing is known
 * of; types come first, since all else asks for sizes, then variables, functions with their instructions (ops.def, then
 * what its rows cannot say), calls, and last whether work-items miss each other at barriers (ir/analysis). Uses
 * ir/text/print for messages.
 */
#pragma once

#include "ir/base/diag.h"
#include "ir/core/ir.h"
#include "ir/verify/limits.h"

/* True when the module is valid. Findings are added to list (may be NULL). Never trusts anything but
   that pointers in the module point at objects of the module or are NULL. */
bool ir_verify(const struct ir_module *m, struct diag_list *list);
/* The same of one function alone, while others of its module are still being made: for passes. */
bool ir_verify_function(const struct ir_function *f, struct diag_list *list);
/* Only the structs and arrays of m: what must hold before ir_type_size() may be called. */
bool ir_verify_types(const struct ir_module *m, struct diag_list *list);
