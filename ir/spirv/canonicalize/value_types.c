/* Instructions whose lengths stay inside the module, and what they define: the first look at words of strangers. */
#include "ir/spirv/canonicalize/value_types.h"

bool spirv_find_value_types(struct spirv_words *m)
{
    m->value_types = arena_alloc(m->arena, (m->bound + 1) * sizeof *m->value_types);
    m->int_types = arena_alloc(m->arena, (m->bound + 1) * sizeof *m->int_types);
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) {
        const uint32_t *w = m->words + at;
        uint32_t n = w[0] >> 16, type;
        if (!n || n > m->n_words - at) {
            spirv_fail_module(m->findings, "is no valid SPIR-V: an instruction at word %zu has a length of %u words",
                              at, n);
            return false;
        }
        uint32_t id = spirv_result(m, w, &type);
        m->value_types[id] = type < m->bound ? type : 0;
        if ((w[0] & 0xffff) == SpvOpTypeInt && n > 2 && id) m->int_types[id] = w[2];
    }
    return true;
}
