/* A kernel brought into the form that is written: in a module of its own, alone. */
#pragma once

#include "fuser/spirv/abi/module.h"
#include "fuser/spirv/abi/target.h"
#include "ir/core/ir.h"

/* Its module is to be freed. Sets in *out what work-items do: several at once, for which it has the parameters of
   coarsen(), or printing, for which it has that of spirv_lower_prints(). */
struct ir_function *spirv_prepare(const struct ir_function *kernel, const struct spirv_target *target,
                                  struct spirv_module *out);
