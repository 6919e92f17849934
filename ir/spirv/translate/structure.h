/* Structured control flow from a reducible graph. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* Translates the blocks of the body, from its entry on. */
void spirv_structure(struct spirv_body *s);
