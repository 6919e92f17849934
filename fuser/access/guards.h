/* What the conditions say that work-items have passed on their way to an access. */
#pragma once

#include "fuser/access/launched_access.h"

enum { GUARDS_MOST_TAKEN = 64 };

/* Guards that all work-items pass as long as scalars are as large as they were. */
struct guards_taken {
    unsigned n;
    const struct access_guard *guards[GUARDS_MOST_TAKEN];
};

/* Each work-item that gets to `there` gets to one of n accesses `here`, too: of the same launch, whatever else it does.
   taken: gets what it goes by besides; NULL: it may go by nothing. */
bool guards_let_pass(const struct launched_access *here, uint32_t n, const struct launched_access *there,
                     struct guards_taken *taken);
/* It is gone by for good: the scalars' summaries say so. */
void guards_keep(const struct guards_taken *taken);
