/* Vectors: made of numbers, taken apart, their lanes in another order. */
#pragma once

#include "fuser/spirv/base/body.h"

/* False: it is no such operation. */
bool spw_vector(struct spw *w, const struct ir_inst *inst);
