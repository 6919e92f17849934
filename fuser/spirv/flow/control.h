/* The kernel's ifs and loops. */
#pragma once

#include "fuser/spirv/base/body.h"

/* A block's instructions with all that is in them. */
void spw_block(struct spw *w, const struct ir_block *block);
