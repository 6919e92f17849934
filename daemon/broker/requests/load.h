/* The last step of a finalize: the executable goes to the executor, and its report to the client. */
#pragma once

#include "daemon/broker/requests/finalization.h"

/* Ends f, with success or not. */
void load_executable(struct finalize *f);
