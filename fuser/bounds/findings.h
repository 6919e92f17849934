/* What a check tells. */
#pragma once

#include "fuser/bounds/places.h"

/* At the builder: the access of an instruction through one of its operands is outside. */
void findings_tell(struct ir_builder *b, struct places *places, const struct bounds_launch *launch,
                   const struct ir_inst *inst, unsigned operand);
/* Bytes of the access of an instruction through its pointer; of a copy those of one element. */
uint64_t findings_bytes(const struct ir_inst *inst);
