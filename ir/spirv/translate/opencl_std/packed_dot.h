/* Packed dot products as functions of the library. */
#pragma once

#include "ir/spirv/translate/values/body.h"

bool spirv_is_named_dot(const struct spirv_reader *r, const struct spirv_function *f);
/* A call of such a function; false where it is none. */
bool spirv_emit_named_dot(struct spirv_body *s, const struct spirv_inst *i, const struct spirv_function *f);
