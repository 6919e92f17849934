/* Functions of ir for those of the module: names, parameters and attributes. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* Makes them, but for built-in ones and for what only calls another. */
void spirv_make_signatures(struct spirv_reader *r);
/* The result goes through a hidden last parameter. */
bool spirv_returns_struct(const struct spirv_reader *r, const struct spirv_function *f);
