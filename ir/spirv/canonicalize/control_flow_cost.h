/* What validating the control flow of functions would cost. */
#pragma once

#include "ir/spirv/base/words.h"

/* Reports functions that would take the validator too long; after spirv_order_blocks(). */
bool spirv_check_control_flow_cost(struct spirv_words *m);
