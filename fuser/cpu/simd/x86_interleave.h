/* Two registers of numbers of 4 or 8 bytes: every other one picked out of both, and put together one by one. */
#pragma once

#include "fuser/cpu/jit/emit.h"

/* a and b one after the other: the numbers at even places, or those at odd ones. */
lval x86_every_other(struct emit *e, enum ir_kind kind, lval a, lval b, bool odd);
/* AVX-512: each number of v as often as a number has words, one after the other: register i of these. Where a mask is
   not set, what was before; mask NULL: no such place. */
lval x86_spread(struct emit *e, enum ir_kind kind, lval v, unsigned words, unsigned i, lval mask, lval before);
/* Of each word of 4 bytes n bytes from number `first` on, and zeros above. */
bool x86_can_pick_bytes(const struct emit *e);
lval x86_pick_bytes(struct emit *e, lval words, unsigned first, unsigned n);
/* a0 b0 a1 b1 ... : to[0] has the first half, to[1] the second one. */
void x86_zip(struct emit *e, enum ir_kind kind, lval a, lval b, lval to[2]);
