/* Register pressure. */
#pragma once

#include "ir/core/ir.h"

/* Bytes of values that a work-item of the kernel has alive at once, at most: an estimate. */
uint64_t register_pressure(struct ir_function *f);
