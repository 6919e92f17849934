/* Vectors, structs and arrays as values. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* True where the instruction is one of these. */
bool spirv_emit_composite(struct spirv_body *s, const struct spirv_inst *i);
