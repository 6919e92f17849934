/* Built-in functions that a translator has left as calls of imported ones. */
#pragma once

#include "ir/spirv/translate/values/body.h"

bool spirv_is_mangled_builtin(const struct spirv_reader *r, const struct spirv_function *f);
/* A call of such a function; false where it is none. */
bool spirv_emit_mangled(struct spirv_body *s, const struct spirv_inst *i, const struct spirv_function *f);
