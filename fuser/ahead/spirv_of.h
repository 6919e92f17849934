/* A kernel of a module by itself, as SPIR-V of the kernel dialect. */
#pragma once

#include "fuser/spirv/abi/module.h"
#include "fuser/spirv/abi/target.h"
#include "ir/base/diag.h"
#include "ir/core/ir.h"

/* False, with findings: the dialect cannot say it. To be cleared either way (spirv_module_clear()). */
bool ahead_spirv_of(const struct ir_function *kernel, const struct spirv_target *target, struct spirv_module *out,
                    struct diag_list *list);
