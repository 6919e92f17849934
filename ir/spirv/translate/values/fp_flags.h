/* What the module says about the precision of an operation. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* The fp flags of an instruction's result. */
uint8_t spirv_fp_flags(const struct spirv_body *s, uint32_t id);
