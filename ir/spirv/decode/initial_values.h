/* Initial values of variables. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* Gives a variable the value of a constant, with a finding where that cannot be said. */
void spirv_initialize(struct spirv_reader *r, const struct spirv_inst *i, struct ir_global *g, uint32_t id);
