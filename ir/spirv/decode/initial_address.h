/* Addresses in initial values. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* The variable (NULL: none, it is a number) and the offset that a constant is the address of; false: it cannot be told,
   which is reported. */
bool spirv_initial_address(struct spirv_reader *r, const struct spirv_inst *user, uint32_t id,
                           struct ir_address *address);
