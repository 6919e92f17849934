/* What a function needs of a device. */
#pragma once

#include "ir/core/ir.h"

/* What the function and everything it calls needs of a device: from types and operations. */
uint64_t ir_function_aspects(const struct ir_function *f);
