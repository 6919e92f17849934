/* Vectors of bools as the bits of a number. */
#pragma once

#include "ir/spirv/base/words.h"

/* Puts the number together, bool by bool; after spirv_check_control_flow_cost(). */
void spirv_gather_bool_bits(struct spirv_words *m);
