/* The same bits as other integers. */
#include "fuser/spirv/base/bits.h"

#include <spirv/unified1/spirv.h>

uint32_t spw_bitcast(struct spw *w, uint32_t type, enum ir_kind from, enum ir_kind to, uint32_t x)
{
    return from == to ? x : SPW_EMIT(w, SpvOpBitcast, type, x);
}

/* Vectors end at four lanes: eight pieces go through two halves. */
uint32_t spw_glue(struct spw *w, unsigned bits, const uint32_t *pieces, unsigned n)
{
    uint32_t halves[2];
    if (n == 1) return pieces[0];
    if (n == 8) {
        for (unsigned i = 0; i < 2; i++) halves[i] = spw_glue(w, bits, pieces + 4 * i, 4);
        return spw_glue(w, 4 * bits, halves, 2);
    }
    uint32_t all = spw_construct(w, spw_type_int(&w->m, bits, n), pieces, n);
    return SPW_EMIT(w, SpvOpBitcast, spw_type_int(&w->m, bits * n, 1), all);
}

void spw_cut(struct spw *w, unsigned bits, uint32_t whole, unsigned n, uint32_t *pieces)
{
    uint32_t halves[2];
    if (n == 1) {
        pieces[0] = whole;
    } else if (n == 8) {
        spw_cut(w, 4 * bits, whole, 2, halves);
        for (unsigned i = 0; i < 2; i++) spw_cut(w, bits, halves[i], 4, pieces + 4 * i);
    } else {
        uint32_t all = SPW_EMIT(w, SpvOpBitcast, spw_type_int(&w->m, bits, n), whole);
        for (unsigned i = 0; i < n; i++)
            pieces[i] = SPW_EMIT(w, SpvOpCompositeExtract, spw_type_int(&w->m, bits, 1), all, i);
    }
}
