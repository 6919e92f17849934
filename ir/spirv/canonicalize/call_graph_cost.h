/* What validating entry points with the functions they reach would cost. */
#pragma once

#include "ir/spirv/base/words.h"

/* Reports entry points that reach too many functions. */
bool spirv_check_call_graph_cost(struct spirv_words *m);
