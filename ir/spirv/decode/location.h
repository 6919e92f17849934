/* Where an instruction stands in the source that was compiled. */
#pragma once

#include "ir/spirv/decode/reader.h"

struct ir_loc spirv_loc(struct spirv_reader *r, const struct spirv_inst *inst);
