/* Which instructions all work-items of a work-group come to, or none. */
#pragma once

#include "fuser/spirv/base/body.h"

/* Puts the operations of groups among them into w->uniform. Numbers the kernel's values and instructions. */
void spw_come_together(struct spw *w);
