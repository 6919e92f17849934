/* Selections of vectors by one bool. */
#pragma once

#include "ir/spirv/base/words.h"

/* Makes the bool a vector; after spirv_check_control_flow_cost(). */
void spirv_widen_selects(struct spirv_words *m);
