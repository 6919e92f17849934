/* What the row of ops.def cannot say. */
#pragma once

#include "ir/verify/verifier.h"

void verify_op(struct verifier *v, const struct ir_inst *inst);
