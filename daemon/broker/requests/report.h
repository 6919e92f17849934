/* The report of a finalize: what the plan says, completed with what compiling its launches has told. */
#pragma once

#include "daemon/broker/requests/finalization.h"

/* NULL: the plan's is not understood. */
struct blob *report_merge(const struct finalize *f);
