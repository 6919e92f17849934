/* The entry function of a kernel: over a range of work-groups, as fuser/cpu/abi/kernel_abi.h says. */
#pragma once

#include "fuser/cpu/jit/emit.h"

/* Emits the entry function and the record about it. loops: the work is in them, not in memory. False: it is more than
   e->jit.most_statements; nothing needs to be undone, for all lies in the context and the arena. */
bool emit_entry(struct emit *e, bool loops);
