/* The verifier: reports every violation of docs/ir.md, not the first one only. */
#pragma once

#include "ir/diag.h"
#include "ir/ir.h"

/* True when the module is valid. Findings are added to list (may be NULL). Never trusts anything but
   that pointers in the module point at objects of the module or are NULL. */
bool ir_verify(const struct ir_module *m, struct diag_list *list);
