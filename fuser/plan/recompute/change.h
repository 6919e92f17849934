/* Readers become kernels that do the writer's work too; taken back where that leads nowhere. */
#pragma once

#include "fuser/plan/recompute/state.h"

/* What decides where the kernel accesses memory, by argument: what it was. */
const int64_t *recompute_numbers_of(const struct recomputing *r, const struct recompute_state *s);
/* Makes c->made and c->taken, for each reader. False: `why` says why not, and what was made is freed. */
bool recompute_make(const struct recomputing *r, struct recompute_candidate *c, char *why, size_t why_size);
/* The readers change, and the writer is gone. Takes what was made. */
void recompute_commit(struct recomputing *r, const struct recompute_candidate *c);

/* Where the changes stand, and back to there. */
struct recompute_mark {
    uint32_t n_changes, n_buffers, n_remarks;
};
struct recompute_mark recompute_mark(const struct recomputing *r);
void recompute_take_back(struct recomputing *r, const struct recompute_mark *mark);
