/* Components of ids and sizes beyond the third. */
#pragma once

#include "ir/spirv/base/words.h"

/* They are extracted at an index that the validator does not look at. */
void spirv_extract_beyond_dimensions(struct spirv_words *m);
