/* Translators write functions that are annotated before all others, imports too; the specification wants imports first.
 */
#include "ir/spirv/canonicalize/declarations_first.h"

#include <string.h>

/* Copies the functions with or without a body, each with what stands before it since the last one. Returns the words.
 */
static size_t copy(const struct spirv_words *m, size_t from, bool bodies, uint32_t *out)
{
    size_t n_out = 0;
    bool has_body = false;
    for (size_t at = from, begin = from, n; at < m->n_words; at += n) {
        uint32_t op = m->words[at] & 0xffff;
        n = m->words[at] >> 16;
        has_body |= op == SpvOpLabel;
        if (op != SpvOpFunctionEnd && at + n < m->n_words) continue;
        if (has_body == bodies) {
            memcpy(out + n_out, m->words + begin, (at + n - begin) * sizeof *out);
            n_out += at + n - begin;
        }
        begin = at + n;
        has_body = false;
    }
    return n_out;
}

/* The word where functions begin; 0: their order is right. */
static size_t find_disorder(const struct spirv_words *m)
{
    size_t first = 0, bodies = 0;
    bool wrong = false, has_body = false;
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) {
        uint32_t op = m->words[at] & 0xffff;
        if (op == SpvOpFunction && !first) first = at;
        if (op == SpvOpFunction) has_body = false;
        has_body |= op == SpvOpLabel;
        if (op != SpvOpFunctionEnd) continue;
        wrong |= !has_body && bodies;
        bodies += has_body;
    }
    return wrong ? first : 0;
}

void spirv_put_declarations_first(struct spirv_words *m)
{
    size_t first = find_disorder(m);
    if (!first) return;
    uint32_t *words = arena_alloc(m->arena, (m->n_words - first) * sizeof *words);
    size_t n = copy(m, first, false, words);
    n += copy(m, first, true, words + n);
    memcpy(m->words + first, words, n * sizeof *words);
}
