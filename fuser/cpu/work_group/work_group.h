/* Runs a kernel with barriers for one work-group. */
#pragma once

#include "fuser/cpu/jit/emit.h"

struct work_group;

void work_group_prepare(struct emit *e);
uint32_t work_group_place(struct emit *e, rval memory); /* where private variables are; returns bytes per work-item */
void work_group_run(struct emit *e);                    /* the kernel for the work-group at e->ids */
