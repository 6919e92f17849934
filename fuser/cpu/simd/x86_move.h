/* Moves between registers and memory: of chunk c of a number under a mask, and past the cache. */
#pragma once

#include "fuser/cpu/jit/emit.h"

bool x86_can_mask(const struct emit *e, enum ir_kind kind); /* is there an instruction for that width? */
lval x86_masked_load(struct emit *e, const lval *mask, enum ir_kind kind, unsigned c, rval address);
void x86_masked_store(struct emit *e, const lval *mask, enum ir_kind kind, unsigned c, rval address, rval v);
/* SSE and AVX2: the lanes with a bit in `lanes` are v's, the others what was before. */
lval x86_blend(struct emit *e, enum ir_kind kind, lval before, lval v, unsigned lanes);
/* AVX-512: v where the mask is set, else what was before; a mask of the first numbers. */
lval x86_masked_move(struct emit *e, lval mask, enum ir_kind kind, lval before, lval v);
void x86_stream(struct emit *e, rval address, rval v);
void x86_fence(struct emit *e); /* after the last store past the cache */
/* Before code that may have SSE's instructions, as the executor's: they wait while upper halves of registers hold
   something. */
void x86_clear_halves(struct emit *e);
/* One half of a vector of that kind, and two of them as one. */
rval x86_half_of(struct emit *e, enum ir_kind kind, lval vector, unsigned half);
lval x86_join_halves(struct emit *e, enum ir_kind kind, lval low, lval high);
/* Of a mask in registers, the part for chunk c of a number. */
rval x86_bit_mask(struct emit *e, const lval *mask, enum ir_kind kind, unsigned c);
