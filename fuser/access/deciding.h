/* Which scalar arguments decide where a kernel accesses memory. */
#pragma once

#include "fuser/access/walk_state.h"

/* Marks the parameters that addresses or conditions depend on. */
void deciding_find(struct access_walk *w);
