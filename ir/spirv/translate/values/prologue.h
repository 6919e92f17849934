/* What belongs at the beginning of a function. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* A builder for it; tell spirv_prologue_end() after. */
struct ir_builder spirv_prologue(struct spirv_body *s);
void spirv_prologue_end(struct spirv_body *s, const struct ir_builder *b);
