/* Casts of generic pointers that may be null. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

struct lanes emit_address_space_cast(struct emit *e, const struct ir_inst *inst, struct lanes pointer);
