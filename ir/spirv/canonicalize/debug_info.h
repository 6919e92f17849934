/* What is for debuggers alone. */
#pragma once

#include "ir/spirv/base/words.h"

/* Drops it, but for lines. */
void spirv_drop_debug_info(struct spirv_words *m);
