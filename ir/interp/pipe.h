/* Pipes. */
#pragma once

#include "ir/interp/machine.h"

uint64_t interp_pipe_add(struct machine *m, struct interp_pipe *store, const struct ir_global *global);
uint64_t interp_pipe_of_global(struct machine *m, const struct ir_global *global);
/* False: not an instruction of pipes. */
bool interp_pipe_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r);
void interp_pipe_finish(struct machine *m); /* says which reservations the kernel left open */
