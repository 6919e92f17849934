/* The same bits as other integers. */
#pragma once

#include "fuser/spirv/base/body.h"

/* So many integers as one of more bits (a power of two times as many), and back. Integers of `bits` bits. */
uint32_t spw_glue(struct spw *w, unsigned bits, const uint32_t *pieces, unsigned n);
void spw_cut(struct spw *w, unsigned bits, uint32_t whole, unsigned n, uint32_t *pieces);
uint32_t spw_bitcast(struct spw *w, uint32_t type, enum ir_kind from, enum ir_kind to, uint32_t x);
