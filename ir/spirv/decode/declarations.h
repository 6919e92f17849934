/* Types and constants. */
#pragma once

#include "ir/spirv/decode/reader.h"

void spirv_read_declarations(struct spirv_reader *r);
