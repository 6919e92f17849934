/* The verifier: reports every violation of docs/ir.md, not the first one only. */
#pragma once

#include "ir/base/diag.h"
#include "ir/core/ir.h"

/* Limits of the language, so that whatever walks a valid module may recurse. */
enum {
    IR_MAX_BLOCK_DEPTH = 256, /* blocks inside each other, the body included */
    IR_MAX_TYPE_DEPTH = 64,   /* structs and arrays inside each other */
    IR_MAX_CALL_DEPTH = 256,  /* functions that call each other in a row */
};
#define IR_MAX_TYPE_SIZE ((uint64_t)1 << 48) /* sizes of types are below it */

/* True when the module is valid. Findings are added to list (may be NULL). Never trusts anything but
   that pointers in the module point at objects of the module or are NULL. */
bool ir_verify(const struct ir_module *m, struct diag_list *list);
/* The same of one function alone, while others of its module are still being made: for passes. */
bool ir_verify_function(const struct ir_function *f, struct diag_list *list);
