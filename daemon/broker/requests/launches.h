/* The code of a finalize's launches: from the cache or compilers, several at a time. */
#pragma once

#include "daemon/broker/requests/finalization.h"

/* The plan is there; loading follows when all code is. */
void launches_begin(struct finalize *f);
