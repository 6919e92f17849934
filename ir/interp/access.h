/* Instructions that make pointers or touch memory. */
#pragma once

#include "ir/interp/machine.h"

/* False: not one of these. */
bool interp_access_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r);
