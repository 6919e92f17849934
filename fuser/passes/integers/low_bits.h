/* Low bits of integers that are zero for sure. */
#pragma once

#include "ir/core/ir.h"

/* x + n for x | n where n lies in bits that are zero in x, and for the extension of such a sum the sum of extensions:
   nothing is carried into any other bit. NULL: it is neither. */
struct ir_value *low_bits_inst(struct ir_inst *inst);
