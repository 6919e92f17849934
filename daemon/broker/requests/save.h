/* The answer to a graph.finalize whose executable is to be saved: a file of it, which a compiler writes. */
#pragma once

#include "daemon/broker/requests/finalization.h"

/* The code of all launches is there. */
void save_executable(struct finalize *f);
