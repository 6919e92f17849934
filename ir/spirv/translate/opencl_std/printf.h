/* OpenCL.std: printf. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* True where the function is one of these. */
bool spirv_ext_printf(struct spirv_body *s, const struct spirv_inst *i);
