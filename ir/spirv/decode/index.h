/* The module's instructions, by place and by id. */
#pragma once

#include "ir/spirv/base/words.h"
#include "ir/spirv/decode/reader.h"

/* False, with a finding: this is no module that can be read. */
bool spirv_index(struct spirv_reader *r, const struct spirv_words *m);
