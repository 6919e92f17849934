/* Operations that nothing uses. */
#pragma once

#include "ir/core/ir.h"

/* Takes them away, where they are pure. The scratch of each parameter is then how often it is used. */
void spirv_remove_dead_code(struct ir_function *f);
