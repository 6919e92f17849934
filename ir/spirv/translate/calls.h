/* Calls and returns. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* True where the instruction is a call. */
bool spirv_emit_call(struct spirv_body *s, const struct spirv_inst *i);
/* OpReturn, OpReturnValue. */
void spirv_emit_return(struct spirv_body *s, const struct spirv_inst *i);
