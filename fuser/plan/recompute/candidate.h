/* Buffers that may be computed again: who writes and reads them, and whether nothing speaks against it. */
#pragma once

#include "fuser/plan/recompute/state.h"

/* Finds the users of c->buffer. elsewhere: some reader reads other elements than its work-items would have written.
   False: it may not be computed again. */
bool recompute_is_candidate(const struct recomputing *r, struct recompute_candidate *c, bool *elsewhere);

/* All that the reader reads of the buffer is what the same work-item of the writer writes first. */
bool recompute_reads_own(const struct recompute_state *reader, const struct recompute_state *writer, uint32_t buffer);
