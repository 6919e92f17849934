/* Operations of the work-items of a sub-group that are there. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* True where the instruction is one of these. */
bool spirv_emit_subgroup(struct spirv_body *s, const struct spirv_inst *i);
