/* Values of constants. */
#pragma once

#include "ir/spirv/decode/reader.h"

bool spirv_is_constant(const struct spirv_reader *r, uint32_t id);
/* The constant as a number or vector that is known; NULL: it is none. */
const struct ir_value *spirv_constant_value(const struct spirv_reader *r, uint32_t id);
/* The value of a scalar integer constant. */
bool spirv_constant_uint(const struct spirv_reader *r, uint32_t id, uint64_t *value);
