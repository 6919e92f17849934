/*
 * Vectors of bools cast to a number of as many bits, which optimizers make of "does any of these differ", and
 * translators put out, though bools of SPIR-V have no bits: each bool chooses its bit or 0, and the bits become the
 * number.
 */
#include "ir/spirv/canonicalize/bool_bits.h"

#include "ir/spirv/canonicalize/rewrite.h"

enum {
    MAX_BITS = 16, /* the longest vector has as many elements */
    CAST_WORDS = 4,
    TYPE_WORDS = 4,
    CONSTANT_WORDS = 4,
    EXTRACT_WORDS = 5,
    SELECT_WORDS = 6,
    OR_WORDS = 5,
    WORDS_PER_BIT = EXTRACT_WORDS + SELECT_WORDS + OR_WORDS,
    IDS_PER_BIT = 3,
};

struct gatherer {
    struct spirv_words *m;
    uint32_t bound; /* of the ids that the module came with */
    uint32_t bool_type;
    uint8_t *lanes;                 /* by id: of a type that is a vector of bools */
    uint32_t *number;               /* by number of bits: id of the type, 0: nothing is cast to it */
    uint32_t (*bits)[1 + MAX_BITS]; /* by number of bits: constants 0, and each bit */
    size_t n_bits;                  /* of all casts */
};

/* 0: the instruction is no such cast. */
static unsigned bits_cast(const struct gatherer *g, const uint32_t *w)
{
    const struct spirv_words *m = g->m;
    if (w[0] != (CAST_WORDS << 16 | SpvOpBitcast) || w[1] >= g->bound || w[3] >= g->bound) return 0;
    unsigned lanes = g->lanes[m->value_types[w[3]]];
    return lanes && m->int_types[w[1]] == lanes ? lanes : 0;
}

static void look_at_types(struct gatherer *g)
{
    const uint32_t *words = g->m->words;
    for (size_t at = SPIRV_HEADER_WORDS; at < g->m->n_words; at += words[at] >> 16) {
        const uint32_t *w = words + at;
        if (w[0] == (2 << 16 | SpvOpTypeBool)) g->bool_type = w[1];
        if (w[0] == (TYPE_WORDS << 16 | SpvOpTypeVector) && g->bool_type && w[2] == g->bool_type && w[1] < g->bound &&
            w[3] <= MAX_BITS)
            g->lanes[w[1]] = (uint8_t)w[3];
    }
}

static void count_casts(struct gatherer *g)
{
    const uint32_t *words = g->m->words;
    for (size_t at = SPIRV_HEADER_WORDS; at < g->m->n_words; at += words[at] >> 16) {
        unsigned n = bits_cast(g, words + at);
        if (n) g->number[n] = words[at + 1];
        g->n_bits += n;
    }
}

static void put_constants(struct spirv_rewrite *r, void *data)
{
    struct gatherer *g = data;
    for (unsigned n = 1; n <= MAX_BITS; n++) {
        for (unsigned k = 0; g->number[n] && k <= n; k++) {
            uint32_t id = g->bits[n][k] = g->m->bound++;
            spirv_put(r, (uint32_t[]){CONSTANT_WORDS << 16 | SpvOpConstant, g->number[n], id, k ? 1u << (k - 1) : 0},
                      CONSTANT_WORDS);
        }
    }
}

static bool put_bits(struct spirv_rewrite *r, const uint32_t *cast, void *data)
{
    struct gatherer *g = data;
    unsigned n = bits_cast(g, cast);
    uint32_t type = cast[1], so_far = g->bits[n][0];
    for (unsigned k = 0; k < n; k++) {
        uint32_t one = g->m->bound++, bit = g->m->bound++, all = k + 1 < n ? g->m->bound++ : cast[2];
        spirv_put(r, (uint32_t[]){EXTRACT_WORDS << 16 | SpvOpCompositeExtract, g->bool_type, one, cast[3], k},
                  EXTRACT_WORDS);
        spirv_put(r, (uint32_t[]){SELECT_WORDS << 16 | SpvOpSelect, type, bit, one, g->bits[n][1 + k], g->bits[n][0]},
                  SELECT_WORDS);
        spirv_put(r, (uint32_t[]){OR_WORDS << 16 | SpvOpBitwiseOr, type, all, so_far, bit}, OR_WORDS);
        so_far = all;
    }
    return n > 0;
}

void spirv_gather_bool_bits(struct spirv_words *m)
{
    uint32_t number[1 + MAX_BITS] = {0}, bits[1 + MAX_BITS][1 + MAX_BITS];
    struct gatherer g = {.m = m, .bound = m->bound, .number = number, .bits = bits};
    g.lanes = arena_alloc(m->arena, (size_t)g.bound + 1);
    look_at_types(&g);
    count_casts(&g);
    size_t constants = MAX_BITS * (1 + MAX_BITS), ids = constants + g.n_bits * IDS_PER_BIT;
    if (!g.n_bits || ids > UINT32_MAX - m->bound) return;
    m->value_types = spirv_grow_by_id(m, m->value_types, ids);
    spirv_rewrite(m, constants * CONSTANT_WORDS + g.n_bits * WORDS_PER_BIT, put_constants, put_bits, &g);
}
