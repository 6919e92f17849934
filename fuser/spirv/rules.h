/* Rules of Vulkan that SPIRV-Tools of the time do not look at. */
#pragma once

#include "ir/spirv/base/words.h"

/* The first one that a module breaks, whose words SPIRV-Tools take and of which the types of values are known
   (ir/spirv/canonicalize/value_types.h): a sentence with the id or word that is concerned, in `text`; NULL: none. */
const char *spirv_broken_rule(const struct spirv_words *m, char *text, size_t size);
