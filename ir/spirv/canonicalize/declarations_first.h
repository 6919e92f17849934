/* Where functions without a body stand. */
#pragma once

#include "ir/spirv/base/words.h"

/* Puts them before all others. */
void spirv_put_declarations_first(struct spirv_words *m);
