/* The kernel's own instructions once more, for one of the work-items. */
#pragma once

#include "fuser/coarsen/coarse.h"

/* What a value is for work-item k. */
struct ir_value *copy_now(const struct coarse *c, struct ir_value *v, unsigned k);
/* The same value for all of them. */
void copy_set_all(struct coarse *c, const struct ir_value *v, struct ir_value *to);
/* One instruction, of ifs and loops all that is inside; at the place where the builder is. */
void copy_inst(struct coarse *c, struct ir_builder *b, const struct ir_inst *inst, unsigned k);
/* Instructions from the first to the end of its block, or up to its return, which is left out. */
void copy_all(struct coarse *c, struct ir_builder *b, const struct ir_inst *first, unsigned k);
/* Before anything else, where the value can be computed there. */
struct ir_value *copy_ahead(struct coarse *c, struct ir_builder *b, struct ir_value *v, unsigned k);
