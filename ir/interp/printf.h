/* printf. */
#pragma once

#include "ir/interp/machine.h"

/* False: another instruction. */
bool interp_printf_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r);
