/* All that is known of a function's control flow. */
#pragma once

#include "ir/spirv/cfg/graph.h"

/* Room for a module. */
struct cfg_ids cfg_ids_new(struct spirv_reader *r);
/* False, with a finding: the control flow cannot be structured. */
bool cfg_build(struct cfg *g, struct spirv_reader *r, const struct cfg_ids *ids, const struct spirv_function *f);
