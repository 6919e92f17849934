/* The walk over a kernel: the sum of each value, and each use of a parameter with the work-items that get there. */
#pragma once

#include "fuser/access/walk_state.h"

/* Adds the sites to w->result, in program order. */
void walk_kernel(struct access_walk *w);
