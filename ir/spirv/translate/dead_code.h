/* Operations that nothing uses. */
#pragma once

#include "ir/core/ir.h"

/* Takes them away, where they are pure. */
void spirv_remove_dead_code(struct ir_function *f);
