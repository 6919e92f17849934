/*
 * Variables that entry points name: from version 1.4 on all that they use, which translators leave out. The lists are
 * replaced by one of all variables of the module; nothing else looks at them.
 */
#include <string.h>

#include "ir/spirv/canonicalize/interfaces.h"

enum { VERSION_1_4 = 0x10400, NAME = 3, LONGEST = 0xffff };

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

static void list_variables(const struct spirv_words *m, struct lists *l)
{
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) {
        const uint32_t *w = m->words + at;
        unsigned op = w[0] & 0xffff;
        if (op == SpvOpFunction) break;
        l->n_entries += op == SpvOpEntryPoint;
        if (op == SpvOpVariable && w[0] >> 16 > 2) l->variables[l->n_variables++] = w[2];
    }
}

/* In proportion to the module, as all memory: one with very many of both keeps its lists. */
static bool fits(const struct spirv_words *m, const struct lists *l)
{
    return l->n_entries * l->n_variables <= 2 * m->n_words && l->n_variables < LONGEST / 2;
}

void spirv_complete_interfaces(struct spirv_words *m)
{
    struct lists l = {0};
    if (m->words[1] < VERSION_1_4) return;
    l.variables = arena_alloc(m->arena, m->n_words / 3 * sizeof *l.variables + 8);
    list_variables(m, &l);
    if (!l.n_entries || !fits(m, &l)) return;
    uint32_t *out = arena_alloc(m->arena, (m->n_words + l.n_entries * l.n_variables) * sizeof *out);
    size_t n = SPIRV_HEADER_WORDS, step;
    memcpy(out, m->words, SPIRV_HEADER_WORDS * sizeof *out);
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += step) {
        const uint32_t *w = m->words + at;
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
    m->words = out;
    m->n_words = n;
}
