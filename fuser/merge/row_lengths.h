/* How long rows are that work-groups go over. */
#pragma once

#include "fuser/merge/merge_state.h"

/* Whether something became a number. */
bool row_lengths_fix(struct fuse *f);
