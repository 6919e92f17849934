/* Operations on whole vectors. */
#pragma once

#include "ir/core/ir.h"

bool eval_vector(const struct ir_inst *inst, const uint64_t *const *operands, uint64_t *r);
