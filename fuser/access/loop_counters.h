/* Bounds of the counters of a loop, before its body is walked. */
#pragma once

#include "fuser/access/walk_state.h"

void loop_counters_bound(struct access_walk *w, const struct ir_inst *loop);
