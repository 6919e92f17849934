/* Constants of numbers. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* Reads one constant, after what it is made of. */
void spirv_read_constant(struct spirv_reader *r, const struct spirv_inst *i);
