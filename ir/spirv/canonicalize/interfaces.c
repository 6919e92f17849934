/*
 * Variables that entry points name: from version 1.4 on all that they use, which translators leave out. The lists are
 * replaced by one of all variables of the module; nothing else looks at them.
 */
#include <string.h>

#include "ir/spirv/decode/reader.h"

enum { HEADER_WORDS = 5, VERSION_1_4 = 0x10400, NAME = 3, LONGEST = 0xffff };

struct lists {
    uint32_t *variables;
    size_t n_variables, n_entries;
};

/* Words of an entry point up to the end of its name; 0: that has none. */
static size_t named_words(const uint32_t *w)
{
    size_t n = w[0] >> 16;
    const char *end = n > NAME ? memchr(w + NAME, 0, (n - NAME) * sizeof *w) : NULL;
    return end ? NAME + (size_t)(end - (const char *)(w + NAME)) / sizeof *w + 1 : 0;
}

static void look(const struct spirv_reader *r, struct lists *l)
{
    for (size_t at = HEADER_WORDS; at < r->n_words; at += r->words[at] >> 16) {
        const uint32_t *w = r->words + at;
        unsigned op = w[0] & 0xffff;
        if (op == SpvOpFunction) break;
        l->n_entries += op == SpvOpEntryPoint;
        if (op == SpvOpVariable && w[0] >> 16 > 2) l->variables[l->n_variables++] = w[2];
    }
}

/* In proportion to the module, as all memory: one with very many of both keeps its lists. */
static bool fits(const struct spirv_reader *r, const struct lists *l)
{
    return l->n_entries * l->n_variables <= 2 * r->n_words && l->n_variables < LONGEST / 2;
}

void spirv_complete_interfaces(struct spirv_reader *r)
{
    struct lists l = {0};
    if (r->words[1] < VERSION_1_4) return;
    l.variables = arena_alloc(r->arena, r->n_words / 3 * sizeof *l.variables + 8);
    look(r, &l);
    if (!l.n_entries || !fits(r, &l)) return;
    uint32_t *out = arena_alloc(r->arena, (r->n_words + l.n_entries * l.n_variables) * sizeof *out);
    size_t n = HEADER_WORDS, step;
    memcpy(out, r->words, HEADER_WORDS * sizeof *out);
    for (size_t at = HEADER_WORDS; at < r->n_words; at += step) {
        const uint32_t *w = r->words + at;
        step = w[0] >> 16;
        size_t named = (w[0] & 0xffff) == SpvOpEntryPoint ? named_words(w) : 0, all = named + l.n_variables;
        bool replace = named && all <= LONGEST;
        memcpy(out + n, w, (replace ? named : step) * sizeof *out);
        if (replace) {
            memcpy(out + n + named, l.variables, l.n_variables * sizeof *out);
            out[n] = (uint32_t)all << 16 | SpvOpEntryPoint;
        }
        n += replace ? all : step;
    }
    r->words = out;
    r->n_words = n;
}
