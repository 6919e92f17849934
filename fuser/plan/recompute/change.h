/* Readers become kernels that do the writer's work too; taken back where that leads nowhere. */
#pragma once

#include "fuser/plan/recompute/state.h"

/* The readers become what was made, and the writer is gone. */
void recompute_commit(struct recomputing *r, const struct recompute_candidate *c);

/* Where the changes stand, and back to there. */
struct recompute_mark {
    uint32_t n_changes, n_buffers, n_remarks;
};
struct recompute_mark recompute_mark(const struct recomputing *r);
void recompute_take_back(struct recomputing *r, const struct recompute_mark *mark);
