/* Runs one work-item. */
#pragma once

#include "ir/interp/machine.h"

bool interp_item_start(struct machine *m, struct item *item); /* puts the kernel's frame up */
void interp_item_run(struct machine *m, struct item *item);   /* until it waits, is done, or the machine stops */
void interp_item_clear(struct machine *m, struct item *item);
