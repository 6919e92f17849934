/* One register's part of a value or of a mask. */
#pragma once

#include "fuser/cpu/jit/emit.h"

unsigned lanes_per_chunk(const struct emit *e, enum ir_kind kind);
unsigned lanes_chunks(const struct emit *e, enum ir_kind kind);
rval lanes_pick(struct emit *e, enum ir_kind kind, lval vector, unsigned lane);
rval chunk_of(struct emit *e, enum ir_kind kind, unsigned n, rval *elements);
lval chunk_splat(struct emit *e, enum ir_kind kind, rval v);

gcc_jit_type *mask_type(struct emit *e);
unsigned mask_lanes(const struct emit *e); /* in a chunk */
unsigned mask_chunks(const struct emit *e);
rval mask_bit(struct emit *e, lval chunk, unsigned lane);
rval mask_build(struct emit *e, rval *bools);
rval mask_splat(struct emit *e, rval condition);
/* a op b for and, or, xor; for not, a and not b, or without b not a. */
lval mask_logic(struct emit *e, enum ir_op op, lval a, lval b);
/* A chunk of a vector mask as integers of the kind's width, for chunk c of such a value. */
rval mask_widened(struct emit *e, const lval *mask, enum ir_kind kind, unsigned c);
