/*
 * Ids of reservations of pipes become numbers of 64 bits: translators select, convert and cast them, which SPIR-V has
 * for numbers only.
 */
#include <string.h>

#include "ir/spirv/decode/reader.h"

enum { HEADER_WORDS = 5, INT_WORDS = 4, CAPABILITY_WORDS = 2, CAST_WORDS = 4, BITS = 64 };

static size_t count_types(const struct spirv_reader *r)
{
    size_t n = 0;
    for (size_t at = HEADER_WORDS; at < r->n_words; at += r->words[at] >> 16)
        n += (r->words[at] & 0xffff) == SpvOpTypeReserveId;
    return n;
}

static bool is_cast(const uint32_t *w)
{
    unsigned op = w[0] & 0xffff;
    return w[0] >> 16 == CAST_WORDS && (op == SpvOpConvertUToPtr || op == SpvOpGenericCastToPtr ||
                                        op == SpvOpPtrCastToGeneric || op == SpvOpBitcast);
}

void spirv_number_reservations(struct spirv_reader *r)
{
    size_t n_types = count_types(r), n = HEADER_WORDS, length;
    if (!n_types) return;
    uint32_t *out = arena_alloc(r->arena, (r->n_words + CAPABILITY_WORDS + n_types * INT_WORDS) * sizeof *out);
    bool *is_id = arena_alloc(r->arena, r->bound + 1);
    memcpy(out, r->words, HEADER_WORDS * sizeof *out);
    out[n++] = CAPABILITY_WORDS << 16 | SpvOpCapability;
    out[n++] = SpvCapabilityInt64;
    for (size_t at = HEADER_WORDS; at < r->n_words; at += length) {
        const uint32_t *w = r->words + at;
        length = w[0] >> 16;
        if (w[0] == (2 << 16 | SpvOpTypeReserveId) && w[1] < r->bound) {
            is_id[w[1]] = true;
            r->int_types[w[1]] = BITS;
            memcpy(out + n, (uint32_t[]){INT_WORDS << 16 | SpvOpTypeInt, w[1], BITS, 0}, INT_WORDS * sizeof *out);
            n += INT_WORDS;
            continue;
        }
        memcpy(out + n, w, length * sizeof *out);
        if (is_cast(w) && w[1] < r->bound && is_id[w[1]]) out[n] = CAST_WORDS << 16 | SpvOpCopyObject;
        n += length;
    }
    r->words = out;
    r->n_words = n;
}
