/* Data races. */
#pragma once

#include "ir/interp/machine.h"

/* Takes note of an access, and reports the one before that it races with. */
void interp_race_note(struct machine *m, struct item *item, const struct code_inst *at, struct allocation *memory,
                      uint64_t offset, const struct access *a);
