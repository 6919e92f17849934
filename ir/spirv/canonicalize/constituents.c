/*
 * Variables as parts of constants. Translators write the variable where its address is meant; the validator wants a
 * constant, which the address is once a specialization constant operation has given it on.
 */
#include <string.h>

#include "ir/spirv/canonicalize/constituents.h"

enum { FIRST_PART = 3, CAST_WORDS = 5 };

struct caster {
    struct spirv_words *m;
    uint32_t bound; /* of the ids that the module came with */
    uint32_t
        *constant; /* by id of a variable: its address as a constant; 0: none is needed, so far UINT32_MAX if one is */
    bool *is_variable; /* by id, of those before functions */
    size_t n_needed;
};

static bool is_composite(const uint32_t *w)
{
    return (w[0] & 0xffff) == SpvOpConstantComposite || (w[0] & 0xffff) == SpvOpSpecConstantComposite;
}

static bool is_variable(const uint32_t *w)
{
    return (w[0] & 0xffff) == SpvOpVariable && w[0] >> 16 > 3;
}

static void find_constituents(struct caster *c)
{
    const struct spirv_words *m = c->m;
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words && (m->words[at] & 0xffff) != SpvOpFunction;
         at += m->words[at] >> 16) {
        const uint32_t *w = m->words + at;
        if (is_variable(w) && w[2] < c->bound) c->is_variable[w[2]] = true;
        if (!is_composite(w)) continue;
        for (uint32_t k = FIRST_PART; k < w[0] >> 16; k++) {
            if (w[k] >= c->bound || !c->is_variable[w[k]] || c->constant[w[k]]) continue;
            c->constant[w[k]] = UINT32_MAX;
            c->n_needed++;
        }
    }
}

/* The instruction, with a cast behind a variable that needs one and those of before in its parts. */
static size_t put_instruction(struct caster *c, const uint32_t *w, uint32_t *out)
{
    uint32_t n = w[0] >> 16;
    memcpy(out, w, n * sizeof *out);
    if (is_composite(w)) {
        for (uint32_t k = FIRST_PART; k < n; k++)
            if (w[k] < c->bound && c->constant[w[k]]) out[k] = c->constant[w[k]];
    }
    if (!is_variable(w) || w[2] >= c->bound || c->constant[w[2]] != UINT32_MAX) return n;
    uint32_t id = c->constant[w[2]] = c->m->bound++;
    memcpy(out + n, (uint32_t[]){CAST_WORDS << 16 | SpvOpSpecConstantOp, w[1], id, SpvOpBitcast, w[2]},
           CAST_WORDS * sizeof *out);
    return n + CAST_WORDS;
}

void spirv_cast_constituents(struct spirv_words *m)
{
    struct caster c = {.m = m, .bound = m->bound};
    c.constant = arena_alloc(m->arena, ((size_t)c.bound + 1) * sizeof *c.constant);
    c.is_variable = arena_alloc(m->arena, (size_t)c.bound + 1);
    find_constituents(&c);
    if (!c.n_needed) return;
    uint32_t *out = arena_alloc(m->arena, (m->n_words + c.n_needed * CAST_WORDS) * sizeof *out);
    size_t n = SPIRV_HEADER_WORDS, at = SPIRV_HEADER_WORDS;
    memcpy(out, m->words, SPIRV_HEADER_WORDS * sizeof *out);
    for (; at < m->n_words && (m->words[at] & 0xffff) != SpvOpFunction; at += m->words[at] >> 16)
        n += put_instruction(&c, m->words + at, out + n);
    memcpy(out + n, m->words + at, (m->n_words - at) * sizeof *out);
    out[3] = m->bound;
    m->words = out;
    m->n_words = n + m->n_words - at;
}
