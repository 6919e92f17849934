/* Pipes of the module as pipes, in the kernel dialect, for targets that have them (SPIRV_PIPES). */
#pragma once

#include "fuser/spirv/base/body.h"

/* The kernel names pipes of its module, and the target has some: else pipes are memory (fuser/spirv/handles.h). */
bool spirv_keeps_pipes(const struct ir_function *kernel, const struct spirv_target *target);
/* The instruction names one that stays a pipe. */
bool spw_is_pipe(const struct spw *w, const struct ir_inst *inst);
void spw_pipe(struct spw *w, const struct ir_inst *inst);
/* What a kernel asks of a reservation is whether it is one: true where the comparison is that, and was written. */
bool spw_pipe_asked(struct spw *w, const struct ir_inst *inst);
