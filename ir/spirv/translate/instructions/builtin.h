/* Built-in variables. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* True where the instruction is one of these. */
bool spirv_emit_builtin(struct spirv_body *s, const struct spirv_inst *i);
