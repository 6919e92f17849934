/* The work of several work-items by one. */
#pragma once

#include "fuser/coarsen/coarse.h"

/* Whether all joined accesses are aligned as their vectors: the same for all work-items of a row. */
struct ir_value *together_aligned(struct coarse *c, struct ir_builder *b, const struct ir_inst *first);
/* Whether the work-items agree on the conditions that they are taken to agree on. */
struct ir_value *together_agreed(struct coarse *c, struct ir_builder *b, const struct ir_inst *first);
/* What they do, from the kernel's first instruction on, where both hold. */
void together_all(struct coarse *c, struct ir_builder *b, const struct ir_inst *first);
