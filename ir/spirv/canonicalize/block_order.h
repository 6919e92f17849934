/* Blocks in the order that the specification asks for. */
#pragma once

#include "ir/spirv/base/words.h"

/* Puts the blocks of each function in reverse postorder, without those that cannot be reached. */
void spirv_order_blocks(struct spirv_words *m);
