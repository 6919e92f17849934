/* Buffers of which each work-item touches one element: their accesses go to one variable. */
#pragma once

#include "fuser/merge/merge_state.h"

/* Makes each access through parameter i, which is at one element per work-item, one at the parameter
   itself. False where something else is done with it. */
bool one_variable_rewrite(struct fuse *f, struct ir_function *copy, uint32_t i, ir_type elem);
