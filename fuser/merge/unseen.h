/* Parameters that nobody but the kernel sees, once it reads nothing from them. */
#pragma once

#include "fuser/merge/merge_state.h"

/* Drops the stores to each parameter that is `unseen` and of which all that is left is stores. Whether there were any.
 */
bool unseen_drop(struct fuse *f);
