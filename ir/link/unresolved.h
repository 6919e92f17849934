/* What a function needs and cannot have. */
#pragma once

#include "ir/core/ir.h"

/* An instruction of a function, or of one that it calls, that needs an imported function or variable. NULL: none does.
 */
const struct ir_inst *ir_find_import(const struct ir_function *f);

/* The function, or one that it calls, that is refused; looked for no further than up to the first import. NULL: none.
 */
const struct ir_function *ir_find_refused(const struct ir_function *f);
