/* One instruction against its row of ops.def. */
#pragma once

#include "ir/verify/verifier.h"

void verify_inst(struct verifier *v, const struct ir_inst *inst);
