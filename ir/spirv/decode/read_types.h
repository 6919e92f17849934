/* Declarations of types. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* Reads one, after what it is made of. A type that has no counterpart stays unknown. */
void spirv_read_type(struct spirv_reader *r, const struct spirv_inst *i);
/* OpTypeForwardPointer, ahead of what it points at. */
void spirv_forward_pointer(struct spirv_reader *r, const struct spirv_inst *i);
