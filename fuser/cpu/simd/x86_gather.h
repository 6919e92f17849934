/* One instruction for an access whose lanes lie anywhere, where the instruction set has it. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

bool x86_can_gather(const struct emit *e, enum ir_kind kind);
bool x86_can_scatter(const struct emit *e, enum ir_kind kind);
/* Lane i's number lies offset[i] bytes behind base; offsets are signed, of 32 or 64 bits. Only lanes of the mask access
   memory, the others give 0; mask NULL: all. */
struct lanes x86_gather(struct emit *e, const lval *mask, enum ir_kind kind, rval base, const struct lanes *offset);
/* Chunk c of what that gives of all lanes, of a kind and offsets of 4 bytes. */
lval x86_gather_chunk(struct emit *e, enum ir_kind kind, rval base, const struct lanes *offset, unsigned c);
void x86_scatter(struct emit *e, const lval *mask, rval base, const struct lanes *offset, const struct lanes *v);
