/* Numbers of the float types as bits. */
#pragma once

#include <stdint.h>

#include "ir/core/type.h"

/* Rounded to nearest even to a float kind, the bits zero-extended. A NaN stays one, quiet. */
uint64_t ir_float_bits(enum ir_kind kind, double v);
/* The exact value of such bits. */
double ir_float_value(enum ir_kind kind, uint64_t bits);

/* IEEE binary16 <-> float, as bits; round to nearest even. */
uint16_t ir_f16_from_float(float f);
float ir_f16_to_float(uint16_t h);
