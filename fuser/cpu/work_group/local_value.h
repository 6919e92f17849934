/* Values that follow from local ids alone. */
#pragma once

#include "ir/core/ir.h"

/* What v is for the work-item whose local id in a dimension is `item`; false: that is not known. */
bool local_value_at(const struct ir_value *v, unsigned dim, uint32_t item, uint64_t *word);
