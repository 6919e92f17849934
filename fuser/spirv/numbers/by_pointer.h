/* Functions of OpenCL.std that give one of their results through a pointer. */
#pragma once

#include "fuser/spirv/base/body.h"

/* False: it is no such function. */
bool spw_by_pointer(struct spw *w, const struct ir_inst *inst);
