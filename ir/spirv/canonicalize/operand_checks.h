/* Operands that the validator takes for granted. */
#pragma once

#include "ir/spirv/base/words.h"

/* Reports operands that the validator would die of; before spirv_widen_selects(). */
bool spirv_check_operands(struct spirv_words *m);
