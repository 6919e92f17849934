/* What is left of a module once the verifier has seen it. */
#pragma once

#include "ir/base/diag.h"
#include "ir/core/ir.h"

/* Refuses functions whose bodies break a rule of the language, with findings. False: something else is broken, or
   nobody could use anything of the module, because all was refused. variables_refused: variables of the module were,
   too. */
bool spirv_keep_usable(struct ir_module *m, bool variables_refused, struct diag_list *list);
