/* Values that are used behind the loop that defines them: they leave it as its results. */
#pragma once

#include "ir/spirv/cfg/graph.h"

void cfg_find_live_out(struct cfg *g, const struct spirv_function *f);
