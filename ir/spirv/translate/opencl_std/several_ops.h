/* OpenCL.std: functions of several operations. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* True where the function is one of these. */
bool spirv_ext_special(struct spirv_body *s, const struct spirv_inst *i);
