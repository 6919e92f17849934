/* What SPIR-V for Vulkan computes, step by step on the bits of numbers: the functions that fuser/spirv writes out. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/core/ops.h"
#include "ir/core/type.h"

/* kind: of the floats; v: the operands' words. False: nothing is written for it. */
bool written_eval(enum ir_op op, enum ir_kind kind, const uint64_t v[4], uint64_t *r);
