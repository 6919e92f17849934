/* Counters of grid-stride loops: for (i = id; i < n; i += global_size). */
#pragma once

#include "fuser/access/walk_state.h"

/* Parameters of the loop that begin at an id and grow by the same number each round become the id and an amount of
   whole steps: work-items whose ids are closer than a step never have the same one. */
void loop_rounds_find(struct access_walk *w, const struct ir_inst *loop);
