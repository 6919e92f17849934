/* Conversions between numbers, one lane at a time. */
#pragma once

#include "ir/core/ir.h"

/* False: not a conversion. */
bool eval_convert(enum ir_op op, enum ir_rounding rounding, ir_type to, ir_type from, uint64_t x, uint64_t *r);
