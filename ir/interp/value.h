/* Values as bytes in memory. */
#pragma once

#include "ir/core/ir.h"

unsigned interp_lane_size(ir_type t);
uint64_t interp_value_size(ir_type t); /* lanes only: a vector of 3 has no fourth */
void interp_value_read(ir_type t, const uint8_t *bytes, uint64_t *lanes);
void interp_value_write(ir_type t, uint8_t *bytes, const uint64_t *lanes);
