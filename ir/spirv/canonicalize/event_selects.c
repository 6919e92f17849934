/*
 * Selections of events, which translators make of an if between two of them, though SPIR-V has none of any version. All
 * that is copied is there when the call that copies it returns (translate/instructions/group.c): so either event will
 * do.
 */
#include "ir/spirv/canonicalize/event_selects.h"

enum { SELECT_WORDS = 6, COPY_WORDS = 4, NOP = 1 << 16 | SpvOpNop };

/* 0: there is none. */
static uint32_t event_type(const struct spirv_words *m)
{
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16)
        if (m->words[at] == (2 << 16 | SpvOpTypeEvent)) return m->words[at + 1];
    return 0;
}

void spirv_choose_events(struct spirv_words *m)
{
    uint32_t event = event_type(m);
    for (size_t at = SPIRV_HEADER_WORDS; event && at < m->n_words; at += m->words[at] >> 16) {
        uint32_t *w = m->words + at;
        if (w[0] != (SELECT_WORDS << 16 | SpvOpSelect) || w[1] != event) continue;
        w[0] = COPY_WORDS << 16 | SpvOpCopyObject;
        w[3] = w[4];
        w[4] = w[5] = NOP;
    }
}
