/* Properties of pipes that ask for what pipes in memory do not do. */
#pragma once

#include "ir/features/warnings.h"

/* Calls `warn` with a line for each, until it returns false. */
void ir_warn_pipes(const struct ir_module *m, ir_warn *warn, void *data);
