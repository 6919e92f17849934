/* Stores past the cache: of whole registers, where the launch asks for them. */
#pragma once

#include "fuser/cpu/jit/emit.h"

/* Whether what is stored there may; keeps_cached: 0, or all bits where the launch does not ask for it. A bool. */
rval stream_may(struct emit *e, rval keeps_cached, rval address);
/* Past the cache if `may`, else into it. */
void stream_store(struct emit *e, lval may, lval place, rval v);

/* Whether it is a store, and a load of the same place comes not long before it. Its line is in the cache then. */
bool stream_was_just_read(const struct ir_inst *store);
