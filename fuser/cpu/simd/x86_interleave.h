/* Two registers of numbers of 4 or 8 bytes: every other one picked out of both, and put together one by one. */
#pragma once

#include "fuser/cpu/jit/emit.h"

/* a and b one after the other: to[0] has the numbers at even places, to[1] those at odd ones. */
void x86_unzip(struct emit *e, enum ir_kind kind, lval a, lval b, lval to[2]);
/* a0 b0 a1 b1 ... : to[0] has the first half, to[1] the second one. */
void x86_zip(struct emit *e, enum ir_kind kind, lval a, lval b, lval to[2]);
