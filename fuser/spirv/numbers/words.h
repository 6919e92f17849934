/* Scalars as words of 32 bits, and two of them as one, for operations of groups. */
#pragma once

#include "fuser/spirv/base/body.h"

/* One or two words; gives how many. */
unsigned spw_to_words(struct spw *w, ir_type t, uint32_t x, uint32_t words[2]);
uint32_t spw_from_words(struct spw *w, ir_type t, const uint32_t *words);
/* Two by the operation of a reduction, and what changes nothing there. */
uint32_t spw_combined(struct spw *w, ir_type t, enum ir_group_op op, uint32_t x, uint32_t y);
uint32_t spw_identity(struct spw *w, ir_type t, enum ir_group_op op);
