/* Words of SPIR-V that grow at their end. */
#include "fuser/spirv/module/words.h"

#include <string.h>

#include "ir/base/arena.h"

void spw_append(struct spw_words *w, const uint32_t *words, size_t n)
{
    if (w->n + n > w->capacity) {
        w->capacity = (w->n + n) * 2;
        w->words = arena_realloc(w->words, w->capacity * sizeof *w->words);
    }
    if (n) memcpy(w->words + w->n, words, n * sizeof *words);
    w->n += n;
}

void spw_put(struct spw_words *w, unsigned opcode, const uint32_t *operands, size_t n)
{
    uint32_t first = (uint32_t)(n + 1) << 16 | opcode;
    spw_append(w, &first, 1);
    spw_append(w, operands, n);
}

size_t spw_string(const char *s, uint32_t *words, size_t room)
{
    size_t length = strlen(s), n = length / 4 + 1;
    if (n > room) n = room;
    memset(words, 0, n * sizeof *words);
    for (size_t i = 0; i < length && i / 4 < n; i++) words[i / 4] |= (uint32_t)(unsigned char)s[i] << i % 4 * 8;
    return n;
}
