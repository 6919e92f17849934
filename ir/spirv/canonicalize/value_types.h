/* The types of values by id, and lengths of instructions that can be relied on. */
#pragma once

#include "ir/spirv/base/words.h"

/* Sets value_types and int_types of the words; false, with a finding: an instruction leaves the module. */
bool spirv_find_value_types(struct spirv_words *m);
