/* What the parts of a kernel require of the device and the launch, together. */
#pragma once

#include "fuser/merge/merge_state.h"

/* Adds what a part requires of its surroundings to what the fused kernel requires. `part` is the part's
   kernel as copied into the module. False: they contradict each other. */
bool attributes_merge(struct fuse *f, const struct ir_function *part);
/* When all parts are merged. */
void attributes_finish(struct fuse *f);
