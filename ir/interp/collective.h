/* Barriers and operations of groups. */
#pragma once

#include "ir/interp/machine.h"

/* The operation of all these work-items, which wait at it. */
void interp_collective_exec(struct machine *m, struct item *const *items, uint32_t n);
