/* Which family an instruction belongs to. */
#pragma once

#include "ir/spirv/translate/values/body.h"

void spirv_emit(struct spirv_body *s, const struct spirv_inst *i);
/* The instructions of a block but for its phis and its terminator. */
void spirv_emit_block(struct spirv_body *s, const struct cfg_node *node);
