/* The functions of the module. */
#pragma once

#include "ir/spirv/decode/reader.h"

void spirv_find_functions(struct spirv_reader *r);
/* NULL: the id is no function's. */
struct spirv_function *spirv_function_of(const struct spirv_reader *r, uint32_t id);
