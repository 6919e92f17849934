/*
 * Selections of whole vectors by one bool, which SPIR-V has from 1.4 on, but translators put out for any version: the
 * bool becomes a vector of as many bools as the version asks for.
 */
#include "ir/spirv/canonicalize/vector_selects.h"

#include "ir/core/ir.h"
#include "ir/spirv/canonicalize/rewrite.h"

enum { VERSION_1_4 = 0x10400, SELECT_WORDS = 6, TYPE_WORDS = 4, CONSTRUCT_WORDS = 3 };

struct widener {
    struct spirv_words *m;
    uint32_t bound; /* of the ids that the module came with */
    uint32_t bool_type;
    uint8_t *lanes;                     /* by id: of a type that is a vector */
    uint32_t vectors[IR_MAX_LANES + 1]; /* by lanes: id of the vector of bools; 0: there is none yet */
    bool needed[IR_MAX_LANES + 1];
    uint32_t n_selects, n_words; /* to be widened, and how many words that takes at most */
};

/* How many bools the selection lacks; 0: it is as it should be. */
static unsigned lanes_missing(const struct widener *z, const uint32_t *w)
{
    const struct spirv_words *m = z->m;
    if (w[0] != (SELECT_WORDS << 16 | SpvOpSelect) || w[1] >= z->bound || w[3] >= z->bound) return 0;
    return z->bool_type && m->value_types[w[3]] == z->bool_type ? z->lanes[w[1]] : 0;
}

static void look_at_vector(struct widener *z, const uint32_t *w)
{
    if (w[0] >> 16 != TYPE_WORDS || w[1] >= z->bound || w[3] > IR_MAX_LANES) return;
    z->lanes[w[1]] = (uint8_t)w[3];
    if (z->bool_type && w[2] == z->bool_type) z->vectors[w[3]] = w[1];
}

static void look_at_types(struct widener *z)
{
    const uint32_t *words = z->m->words;
    for (size_t at = SPIRV_HEADER_WORDS; at < z->m->n_words; at += words[at] >> 16) {
        if (words[at] == (2 << 16 | SpvOpTypeBool)) z->bool_type = words[at + 1];
        if ((words[at] & 0xffff) == SpvOpTypeVector) look_at_vector(z, words + at);
    }
}

static void count_selects(struct widener *z)
{
    const uint32_t *words = z->m->words;
    for (size_t at = SPIRV_HEADER_WORDS; at < z->m->n_words; at += words[at] >> 16) {
        unsigned lanes = lanes_missing(z, words + at);
        if (!lanes) continue;
        z->needed[lanes] = true;
        z->n_selects++;
        z->n_words += CONSTRUCT_WORDS + lanes;
    }
}

static void put_types(struct spirv_rewrite *r, void *data)
{
    struct widener *z = data;
    for (uint32_t lanes = 1; lanes <= IR_MAX_LANES; lanes++) {
        if (!z->needed[lanes] || z->vectors[lanes]) continue;
        z->vectors[lanes] = z->m->bound++;
        spirv_put(r, (uint32_t[]){TYPE_WORDS << 16 | SpvOpTypeVector, z->vectors[lanes], z->bool_type, lanes},
                  TYPE_WORDS);
    }
}

static bool put_select(struct spirv_rewrite *r, const uint32_t *w, void *data)
{
    struct widener *z = data;
    unsigned lanes = lanes_missing(z, w);
    if (!lanes) return false;
    uint32_t wide = z->m->bound++, n = CONSTRUCT_WORDS + lanes;
    spirv_put(r, (uint32_t[]){n << 16 | SpvOpCompositeConstruct, z->vectors[lanes], wide}, CONSTRUCT_WORDS);
    for (unsigned k = 0; k < lanes; k++) spirv_put(r, w + 3, 1);
    spirv_put(r, (uint32_t[]){w[0], w[1], w[2], wide, w[4], w[5]}, SELECT_WORDS);
    return true;
}

void spirv_widen_selects(struct spirv_words *m)
{
    struct widener z = {.m = m, .bound = m->bound};
    if (m->words[1] >= VERSION_1_4) return;
    z.lanes = arena_alloc(m->arena, z.bound + 1);
    look_at_types(&z);
    count_selects(&z);
    if (!z.n_selects) return;
    spirv_rewrite(m, z.n_words + IR_MAX_LANES * TYPE_WORDS, put_types, put_select, &z);
}
