/* SPIR-V out: one kernel in, one module out, of the dialect that the target has. Runs only in compiler processes. */
#pragma once

#include "fuser/spirv/abi/module.h"
#include "fuser/spirv/abi/target.h"
#include "ir/base/diag.h"
#include "ir/core/ir.h"

/* Writes a kernel, which is left as it is: 0. Or -1, with findings that name the operation, kernel and line that the
   dialect cannot say or the target lacks; -2, where SPIRV-Tools does not take what was written: a defect of ours. */
int spirv_write(const struct ir_function *kernel, const struct spirv_target *target, struct spirv_module *out,
                struct diag_list *list);
/* What any device is taken to have: the kernel dialect in the version that OpenCL 2.1 and later take. */
extern const struct spirv_target spirv_target_kernel;
/* The same, launched as device level_zero does: with a block (fuser/spirv/abi/abi.h). */
extern const struct spirv_target spirv_target_level_zero;
/* A device of Vulkan 1.2 that has all features: what is written for it is valid. */
extern const struct spirv_target spirv_target_vulkan;

void spirv_module_clear(struct spirv_module *m);
