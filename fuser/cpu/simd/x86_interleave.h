/* Two registers of numbers of 4 or 8 bytes: every other one picked out of both, and put together one by one. */
#pragma once

#include "fuser/cpu/jit/emit.h"

/* a and b one after the other: the numbers at even places, or those at odd ones. */
lval x86_every_other(struct emit *e, enum ir_kind kind, lval a, lval b, bool odd);
/* a0 b0 a1 b1 ... : to[0] has the first half, to[1] the second one. */
void x86_zip(struct emit *e, enum ir_kind kind, lval a, lval b, lval to[2]);
