/* Packets of pipes that are arguments: where they are put and taken. */
#pragma once

#include "fuser/access/condition.h"

void packets_see(struct access_walk *w, const struct ir_inst *inst, const struct access_state *state);
