/* Accesses of several work-items side by side. */
#pragma once

#include "fuser/coarsen/coarse.h"

/* A load by all of them, of which as much as possible comes by vectors, or is there already. False: it is none that
   lies side by side. */
bool joined_load(struct coarse *c, struct ir_builder *b, const struct ir_inst *load);
/* A joined store. */
void joined_store(struct coarse *c, struct ir_builder *b, const struct ir_inst *store);
/* What was loaded may have changed, or is not known where it goes on. */
void joined_forget(struct coarse *c);
