/* Values that follow from local ids alone. */
#pragma once

#include "ir/core/ir.h"

/* What v is for a work-item of a row, by its place there; false: that is not known. */
bool local_value_at(const struct ir_value *v, uint32_t item, uint64_t *word);
