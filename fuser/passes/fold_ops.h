/* Identities of single operations. */
#pragma once

#include "ir/core/ir.h"

/* What the pure instruction's result equals, or NULL. Sets *changed where it made the instruction itself
   simpler instead. */
struct ir_value *fold_inst(struct ir_inst *inst, bool *changed);
