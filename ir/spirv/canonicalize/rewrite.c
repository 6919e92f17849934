/* A module written anew. */
#include "ir/spirv/canonicalize/rewrite.h"

#include <string.h>

void spirv_put(struct spirv_rewrite *r, const uint32_t *words, size_t n)
{
    memcpy(r->out + r->n, words, n * sizeof *words);
    r->n += n;
}

void spirv_rewrite(struct spirv_words *m, size_t more, void (*declare)(struct spirv_rewrite *r, void *data),
                   bool (*replace)(struct spirv_rewrite *r, const uint32_t *w, void *data), void *data)
{
    struct spirv_rewrite r = {.out = arena_alloc(m->arena, (m->n_words + more) * sizeof *r.out)};
    bool in_functions = false;
    spirv_put(&r, m->words, SPIRV_HEADER_WORDS);
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) {
        const uint32_t *w = m->words + at;
        if (!in_functions && (w[0] & 0xffff) == SpvOpFunction) {
            in_functions = true;
            declare(&r, data);
        }
        if (!in_functions || !replace(&r, w, data)) spirv_put(&r, w, w[0] >> 16);
    }
    r.out[3] = m->bound;
    m->words = r.out;
    m->n_words = r.n;
}
