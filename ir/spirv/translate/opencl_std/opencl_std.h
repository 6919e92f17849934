/* The instruction set OpenCL.std. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* True where the instruction is of an extended set. */
bool spirv_emit_ext(struct spirv_body *s, const struct spirv_inst *i);
