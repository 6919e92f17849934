/* Types that are declared twice. */
#pragma once

#include "ir/spirv/base/words.h"

/* Makes types that are the same one. */
void spirv_merge_types(struct spirv_words *m);
