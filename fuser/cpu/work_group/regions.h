/* Runs a kernel with barriers for one work-group. */
#pragma once

#include "fuser/cpu/jit/emit.h"

struct regions;

void regions_prepare(struct emit *e);
uint32_t regions_place(struct emit *e, rval memory); /* where private variables are; returns bytes per work-item */
void regions_run(struct emit *e);                    /* the kernel for the work-group at e->ids */
