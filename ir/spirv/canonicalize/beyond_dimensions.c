/*
 * Components of ids and sizes beyond the third, as get_global_size(3) asks for. Translators extract them from vectors
 * that have none, which no module may. Extracted at an index that is only computed, they are what work-item functions
 * give there (translate/instructions/builtin.c).
 */
#include "ir/spirv/canonicalize/beyond_dimensions.h"

#include "ir/spirv/canonicalize/rewrite.h"

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

static void put_numbers(struct spirv_rewrite *r, void *data)
{
    const struct finder *f = data;
    for (uint32_t type = 0; type < f->bound; type++) {
        if (!f->three[type]) continue;
        uint32_t words = f->widths[type] > 32 ? 5 : 4;
        spirv_put(r, (uint32_t[]){words << 16 | SpvOpConstant, type, f->three[type], DIMENSIONS, 0}, words);
    }
}

static bool put_extract(struct spirv_rewrite *r, const uint32_t *w, void *data)
{
    const struct finder *f = data;
    if (!is_beyond(f, w)) return false;
    spirv_put(r, (uint32_t[]){EXTRACT_WORDS << 16 | SpvOpVectorExtractDynamic, w[1], w[2], w[3], f->three[w[1]]},
              EXTRACT_WORDS);
    return true;
}

void spirv_extract_beyond_dimensions(struct spirv_words *m)
{
    struct finder f = {.m = m, .bound = m->bound};
    f.kinds = arena_alloc(m->arena, f.bound + 1);
    f.widths = arena_alloc(m->arena, (f.bound + 1) * sizeof *f.widths);
    f.three = arena_alloc(m->arena, (f.bound + 1) * sizeof *f.three);
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) look_at(&f, m->words + at);
    if (!f.n_types) return;
    spirv_rewrite(m, 5 * (size_t)f.n_types, put_numbers, put_extract, &f);
}
