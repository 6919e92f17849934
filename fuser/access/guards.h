/* What the conditions say that work-items have passed on their way to an access. */
#pragma once

#include "fuser/access/launched_access.h"

/* Each work-item that gets to `there` gets to one of n accesses `here`, too: of the same launch, whatever else it does.
 */
bool guards_let_pass(const struct launched_access *here, uint32_t n, const struct launched_access *there);
