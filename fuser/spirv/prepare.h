/* A kernel brought into the form that is written: in a module of its own, alone. */
#pragma once

#include "fuser/spirv/abi/target.h"
#include "ir/core/ir.h"

/* Its module is to be freed. items: how many work-items one may do; above 1 it has the parameters of coarsen(). */
struct ir_function *spirv_prepare(const struct ir_function *kernel, const struct spirv_target *target, uint32_t *items);
