/* By-value parameters: who gets a copy of its own. */
#pragma once

#include "ir/core/ir.h"

/* The memory at the address is written in the body, or the address goes where we lose it. */
bool byval_copy_needed(struct ir_block *body, const struct ir_value *address);
/* A private variable with a copy of the T at the address. */
struct ir_value *byval_copy_make(struct ir_builder *b, ir_type elem, struct ir_value *address);
