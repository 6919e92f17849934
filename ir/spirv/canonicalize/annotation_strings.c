/* Where a function is annotated, translators write the string twice: as its UserSemantic decoration, and as a variable
   of the module in storage class Function, which no validator takes. Nothing uses the variable: it goes, with its names
   and decorations. What uses one nevertheless is refused by the validator then. */
#include "ir/spirv/canonicalize/annotation_strings.h"

static uint32_t op_of(const uint32_t *w)
{
    return w[0] & 0xffff;
}

static void drop(uint32_t *w)
{
    for (uint32_t k = 0, n = w[0] >> 16; k < n; k++) w[k] = 1 << 16 | SpvOpNop;
}

/* By id: it is such a variable. NULL: there are none. */
static bool *find_strings(const struct spirv_words *m)
{
    bool *is_string = NULL;
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) {
        const uint32_t *w = m->words + at;
        if (op_of(w) == SpvOpFunction) break;
        if (op_of(w) != SpvOpVariable || w[0] >> 16 < 4 || w[3] != SpvStorageClassFunction || w[2] >= m->bound)
            continue;
        if (!is_string) is_string = arena_alloc(m->arena, m->bound);
        is_string[w[2]] = true;
    }
    return is_string;
}

void spirv_drop_annotation_strings(struct spirv_words *m)
{
    const bool *is_string = find_strings(m);
    if (!is_string) return;
    for (size_t at = SPIRV_HEADER_WORDS, n; at < m->n_words; at += n) {
        uint32_t *w = m->words + at, op = op_of(w);
        n = w[0] >> 16;
        if (op == SpvOpFunction) break;
        uint32_t id = op == SpvOpVariable && n > 2                        ? w[2]
                      : (op == SpvOpName || op == SpvOpDecorate) && n > 1 ? w[1]
                                                                          : 0;
        if (id && id < m->bound && is_string[id]) drop(w);
    }
}
