/* Built-in variables. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* True where the instruction is one of these. */
bool spirv_emit_builtin(struct spirv_body *s, const struct spirv_inst *i);
/* The component of a vector that was loaded from a built-in variable, at an index that is not known; NULL: the vector
   was not. */
struct ir_value *spirv_builtin_at(struct spirv_body *s, uint32_t vector, struct ir_value *all, struct ir_value *index);
