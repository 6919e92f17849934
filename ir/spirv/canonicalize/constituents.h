/* Variables as parts of constants. */
#pragma once

#include "ir/spirv/base/words.h"

/* Makes them constants by a cast. */
void spirv_cast_constituents(struct spirv_words *m);
