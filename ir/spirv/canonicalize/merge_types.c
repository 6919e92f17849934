/*
 * Types that are declared twice, which SPIR-V does not have (but for structs and arrays) and translators put out for
 * samplers and pipe storage: the second one becomes the first one, and what is made of it is looked at again.
 */
#include "ir/spirv/canonicalize/merge_types.h"
#include "ir/base/name_map.h"

enum { FUNCTION_WORDS = 5, FUNCTION_TYPE = 4 };

struct merger {
    struct spirv_words *m;
    uint32_t *same;    /* by id of a type: the first one that is the same, or 0 */
    struct names seen; /* ids of types by what key_of() says */
};

static uint32_t first_of(const struct merger *z, uint32_t type)
{
    return type < z->m->bound && z->same[type] ? z->same[type] : type;
}

/* Where the ids of other types stand in a type: from *first up to the result. */
static uint32_t type_operands(const uint32_t *w, uint32_t *first)
{
    uint32_t n = w[0] >> 16;
    *first = 2;
    switch (w[0] & 0xffff) {
    case SpvOpTypeVector:
    case SpvOpTypeArray:
    case SpvOpTypeImage:
    case SpvOpTypeSampledImage: return n < 3 ? n : 3;
    case SpvOpTypeStruct:
    case SpvOpTypeFunction: return n;
    case SpvOpTypePointer: *first = 3; return n;
    default: return 2;
    }
}

/* The words as bytes of which none is 0, but for the id. */
static const char *key_of(struct merger *z, const uint32_t *w, size_t *length)
{
    enum { BYTES = 5, BITS = 7 };
    uint32_t n = w[0] >> 16;
    char *key = arena_alloc(z->m->arena, (size_t)n * BYTES + 1);
    *length = (size_t)n * BYTES;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t b = 0; b < BYTES; b++) key[k * BYTES + b] = (char)(128 | (k == 1 ? 0 : w[k] >> (b * BITS) & 127));
    return key;
}

/* Other types of the same words are other types. Pipe storage looks like a struct by now, and is one type. */
static bool is_nominal(const struct spirv_words *m, const uint32_t *w)
{
    unsigned op = w[0] & 0xffff;
    if (w[1] < m->pipes.bound && m->pipes.is_storage[w[1]]) return false;
    return op == SpvOpTypeStruct || op == SpvOpTypeArray || op == SpvOpTypeRuntimeArray || op == SpvOpTypeOpaque;
}

static void see_type(struct merger *z, uint32_t *w)
{
    uint32_t n = w[0] >> 16, first, end = type_operands(w, &first), id = w[1];
    for (uint32_t k = first; k < end; k++) w[k] = first_of(z, w[k]);
    if (is_nominal(z->m, w) || !id || id >= z->m->bound) return;
    size_t length;
    const char *key = key_of(z, w, &length);
    void **kept = names_put(&z->seen, key, length);
    if (!*kept) {
        *kept = (void *)(uintptr_t)id;
        return;
    }
    z->same[id] = (uint32_t)(uintptr_t)*kept;
    for (uint32_t k = 0; k < n; k++) w[k] = 1 << 16 | SpvOpNop;
}

void spirv_merge_types(struct spirv_words *m)
{
    struct merger z = {.m = m, .seen.arena = m->arena};
    z.same = arena_alloc(m->arena, (m->bound + 1) * sizeof *z.same);
    for (size_t at = SPIRV_HEADER_WORDS, n; at < m->n_words; at += n) {
        uint32_t *w = m->words + at, type, id = spirv_result(m, w, &type);
        n = w[0] >> 16;
        unsigned op = w[0] & 0xffff;
        if (op >= SpvOpTypeVoid && op <= SpvOpTypePipe && n >= 2) see_type(&z, w);
        if (op == SpvOpFunction && n == FUNCTION_WORDS) w[FUNCTION_TYPE] = first_of(&z, w[FUNCTION_TYPE]);
        if (!type) continue;
        w[1] = first_of(&z, type);
        m->value_types[id] = w[1] < m->bound ? w[1] : 0;
    }
}
