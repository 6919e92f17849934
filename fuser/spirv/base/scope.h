/* Scopes and memory semantics, ids of constants. */
#pragma once

#include "fuser/spirv/base/body.h"

uint32_t spw_scope(struct spw *w, enum ir_scope scope);
/* Of an order and the memory that it concerns: enum ir_fence_space. */
uint32_t spw_semantics(struct spw *w, enum ir_order order, unsigned fence);
