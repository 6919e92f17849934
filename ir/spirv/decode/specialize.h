/* Specialization constants. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* With the values of the options; before constants are read. */
void spirv_specialize(struct spirv_reader *r, const struct ir_spirv_options *options);
/* The bits that the options give a specialization constant, where they do. */
bool spirv_specialized(struct spirv_reader *r, const struct spirv_inst *i, uint64_t *bits);
/* Reports values for constants that are not there; after the types and constants have been read. */
void spirv_check_specialized(struct spirv_reader *r);
