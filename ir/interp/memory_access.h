/* Accesses, checked. */
#pragma once

#include "ir/interp/machine.h"

/* Checks an access and takes note of it; what it finds is reported. The bytes, or NULL where the
   access must not happen. */
uint8_t *interp_memory_access(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a);
