/* Casts from generic pointers to a named address space. */
#pragma once

#include <stdbool.h>

#include "ir/core/ir.h"

bool generic_cast_may_be_null(const struct ir_inst *inst); /* where the address lies in another space */
