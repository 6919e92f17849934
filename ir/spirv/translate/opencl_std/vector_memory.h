/* OpenCL.std: vectors and halves in memory. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* True where the function is one of these. */
bool spirv_ext_data(struct spirv_body *s, const struct spirv_inst *i);
