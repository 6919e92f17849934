/* Types of kernel arguments as the source named them. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* What pointers of a kernel point at, where the module keeps the source's types. */
void spirv_read_arg_types(struct spirv_reader *r, const char *kernel, struct ir_function *f);
