/*
 * Ids of reservations of pipes become numbers of 64 bits: translators select, convert and cast them, which SPIR-V has
 * for numbers only.
 */
#include "ir/spirv/canonicalize/reservations.h"

#include <string.h>

enum { INT_WORDS = 4, CAPABILITY_WORDS = 2, CAST_WORDS = 4, BITS = 64 };

static size_t count_types(const struct spirv_words *m)
{
    size_t n = 0;
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16)
        n += (m->words[at] & 0xffff) == SpvOpTypeReserveId;
    return n;
}

static bool is_cast(const uint32_t *w)
{
    unsigned op = w[0] & 0xffff;
    return w[0] >> 16 == CAST_WORDS && (op == SpvOpConvertUToPtr || op == SpvOpGenericCastToPtr ||
                                        op == SpvOpPtrCastToGeneric || op == SpvOpBitcast);
}

void spirv_number_reservations(struct spirv_words *m)
{
    size_t n_types = count_types(m), n = SPIRV_HEADER_WORDS, length;
    if (!n_types) return;
    uint32_t *out = arena_alloc(m->arena, (m->n_words + CAPABILITY_WORDS + n_types * INT_WORDS) * sizeof *out);
    bool *is_id = arena_alloc(m->arena, m->bound + 1);
    memcpy(out, m->words, SPIRV_HEADER_WORDS * sizeof *out);
    out[n++] = CAPABILITY_WORDS << 16 | SpvOpCapability;
    out[n++] = SpvCapabilityInt64;
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += length) {
        const uint32_t *w = m->words + at;
        length = w[0] >> 16;
        if (w[0] == (2 << 16 | SpvOpTypeReserveId) && w[1] < m->bound) {
            is_id[w[1]] = true;
            m->int_types[w[1]] = BITS;
            memcpy(out + n, (uint32_t[]){INT_WORDS << 16 | SpvOpTypeInt, w[1], BITS, 0}, INT_WORDS * sizeof *out);
            n += INT_WORDS;
            continue;
        }
        memcpy(out + n, w, length * sizeof *out);
        if (is_cast(w) && w[1] < m->bound && is_id[w[1]]) out[n] = CAST_WORDS << 16 | SpvOpCopyObject;
        n += length;
    }
    m->words = out;
    m->n_words = n;
}
