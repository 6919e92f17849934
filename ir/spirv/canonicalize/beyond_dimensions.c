/*
 * Components of ids and sizes beyond the third, as get_global_size(3) asks for. Translators extract them from vectors
 * that have none, which no module may. Extracted at an index that is only computed, they are what work-item functions
 * give there (translate/instructions/builtin.c).
 */
#include <string.h>

#include "ir/spirv/canonicalize/beyond_dimensions.h"

enum { DIMENSIONS = 3, EXTRACT_WORDS = 5, LOAD_WORDS = 4, DECORATE_WORDS = 4 };
enum kind { OTHER, VARIABLE, LOADED };

struct finder {
    struct spirv_words *m;
    uint32_t bound;   /* of the ids that the module came with */
    uint8_t *kinds;   /* by id: of what is built in */
    uint32_t *widths; /* by id of an integer type */
    uint32_t *three;  /* likewise: its number 3; 0: not needed */
    uint32_t n_types;
};

static bool is_beyond(const struct finder *f, const uint32_t *w)
{
    if (w[0] != (EXTRACT_WORDS << 16 | SpvOpCompositeExtract) || w[1] >= f->bound || w[3] >= f->bound) return false;
    return f->kinds[w[3]] == LOADED && w[4] >= DIMENSIONS && f->widths[w[1]];
}

static void look_at(struct finder *f, const uint32_t *w)
{
    if (w[0] == (4 << 16 | SpvOpTypeInt) && w[1] < f->bound) f->widths[w[1]] = w[2];
    if ((w[0] & 0xffff) == SpvOpDecorate && w[0] >> 16 == DECORATE_WORDS && w[2] == SpvDecorationBuiltIn)
        if (w[1] < f->bound) f->kinds[w[1]] = VARIABLE;
    if ((w[0] & 0xffff) == SpvOpLoad && w[0] >> 16 >= LOAD_WORDS && w[2] < f->bound && w[3] < f->bound)
        if (f->kinds[w[3]] == VARIABLE) f->kinds[w[2]] = LOADED;
    if (!is_beyond(f, w) || f->three[w[1]]) return;
    f->three[w[1]] = f->m->bound++;
    f->n_types++;
}

static size_t put_numbers(const struct finder *f, uint32_t *out)
{
    size_t n = 0;
    for (uint32_t type = 0; type < f->bound; type++) {
        if (!f->three[type]) continue;
        uint32_t words = f->widths[type] > 32 ? 5 : 4;
        const uint32_t number[] = {words << 16 | SpvOpConstant, type, f->three[type], DIMENSIONS, 0};
        memcpy(out + n, number, words * sizeof *number);
        n += words;
    }
    return n;
}

void spirv_extract_beyond_dimensions(struct spirv_words *m)
{
    struct finder f = {.m = m, .bound = m->bound};
    f.kinds = arena_alloc(m->arena, f.bound + 1);
    f.widths = arena_alloc(m->arena, (f.bound + 1) * sizeof *f.widths);
    f.three = arena_alloc(m->arena, (f.bound + 1) * sizeof *f.three);
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) look_at(&f, m->words + at);
    if (!f.n_types) return;
    uint32_t *out = arena_alloc(m->arena, (m->n_words + 5 * (size_t)f.n_types) * sizeof *out);
    size_t n = SPIRV_HEADER_WORDS;
    bool in_functions = false;
    memcpy(out, m->words, n * sizeof *out);
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) {
        const uint32_t *w = m->words + at;
        if (!in_functions && (w[0] & 0xffff) == SpvOpFunction) n += put_numbers(&f, out + n);
        in_functions |= (w[0] & 0xffff) == SpvOpFunction;
        memcpy(out + n, w, (w[0] >> 16) * sizeof *out);
        if (is_beyond(&f, w)) {
            out[n] = EXTRACT_WORDS << 16 | SpvOpVectorExtractDynamic;
            out[n + 4] = f.three[w[1]];
        }
        n += w[0] >> 16;
    }
    out[3] = m->bound;
    m->words = out;
    m->n_words = n;
}
