/*
 * SPV_INTEL_blocking_pipes and SPV_INTEL_global_variable_host_access, in its first form too
 * (SPV_INTEL_global_variable_decorations). The validator knows neither the decoration nor what the waiting instructions
 * are made of: it takes their first two operands for a type and a result. Nor does it let storage of pipes, which is of
 * SPIR-V itself, stand where constants do.
 */
#include "ir/spirv/canonicalize/pipe_extensions.h"

#include <string.h>

enum {
    OP_READ_BLOCKING = 5946, /* pipe, pointer, size of packets, alignment */
    OP_WRITE_BLOCKING = 5947,
    BLOCKING_WORDS = 5,
    PACKET_WORDS = 7,
    HOST_ACCESS_FIRST = 6147, /* access, name */
    HOST_ACCESS = 6188,
    CAPABILITY_FIRST = 6146,
    CAPABILITY = 6187,
};

static bool is_blocking(const uint32_t *w)
{
    unsigned op = w[0] & 0xffff;
    return (op == OP_READ_BLOCKING || op == OP_WRITE_BLOCKING) && w[0] >> 16 == BLOCKING_WORDS;
}

static bool is_host_access(const uint32_t *w)
{
    bool decorates = (w[0] & 0xffff) == SpvOpDecorate || (w[0] & 0xffff) == SpvOpDecorateString;
    return decorates && w[0] >> 16 > 4 && (w[2] == HOST_ACCESS || w[2] == HOST_ACCESS_FIRST);
}

static bool is_storage_type(const uint32_t *w)
{
    return w[0] == (2 << 16 | SpvOpTypePipeStorage);
}

static bool is_storage(const uint32_t *w)
{
    return w[0] == (6 << 16 | SpvOpConstantPipeStorage);
}

static bool is_capability(const uint32_t *w)
{
    return w[0] == (2 << 16 | SpvOpCapability) && (w[1] == CAPABILITY || w[1] == CAPABILITY_FIRST);
}

static uint32_t count_blocking(const struct spirv_words *m, bool *any)
{
    uint32_t n = 0;
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) {
        const uint32_t *w = m->words + at;
        n += is_blocking(w);
        *any |= is_blocking(w) || is_host_access(w) || is_capability(w) || is_storage_type(w);
    }
    return n;
}

/* The type of what a read or write says; 0: the module has none. */
static uint32_t find_int(const struct spirv_words *m)
{
    for (uint32_t id = 1; id < m->bound; id++)
        if (m->int_types[id] == 32) return id;
    return 0;
}

/* A name ends inside of its instruction, or is none. */
static bool ends(const uint32_t *text, size_t words)
{
    return memchr(text, 0, words * sizeof *text) != NULL;
}

static size_t take(struct spirv_words *m, const uint32_t *w, uint32_t *out, uint32_t type)
{
    size_t length = w[0] >> 16;
    if (is_capability(w)) return 0;
    if (is_host_access(w)) {
        if (w[1] < m->bound && w[3] && ends(w + 4, length - 4)) m->pipes.host_access[w[1]] = (const char *)(w + 4);
        return 0;
    }
    if (is_storage_type(w) && w[1] < m->bound) { /* a type of its own, as each struct is */
        m->pipes.is_storage[w[1]] = true;
        memcpy(out, (uint32_t[]){2 << 16 | SpvOpTypeStruct, w[1]}, 2 * sizeof *out);
        return 2;
    }
    if (is_storage(w) && w[2] < m->bound) {
        m->pipes.storage[w[2]] = w + 3;
        memcpy(out, (uint32_t[]){3 << 16 | SpvOpConstantNull, w[1], w[2]}, 3 * sizeof *out);
        return 3;
    }
    if (is_blocking(w) && type) {
        unsigned op = (w[0] & 0xffff) == OP_READ_BLOCKING ? SpvOpReadPipe : SpvOpWritePipe;
        const uint32_t packet[] = {PACKET_WORDS << 16 | op, type, m->bound, w[1], w[2], w[3], w[4]};
        memcpy(out, packet, sizeof packet);
        m->pipes.waits[m->bound] = true;
        m->value_types[m->bound++] = type;
        return PACKET_WORDS;
    }
    memcpy(out, w, length * sizeof *out);
    return length;
}

void spirv_take_pipe_extensions(struct spirv_words *m)
{
    bool any = false;
    uint32_t blocking = count_blocking(m, &any), type = find_int(m);
    size_t n = SPIRV_HEADER_WORDS;
    if (!any || m->bound > UINT32_MAX - blocking) return;
    uint32_t *out = arena_alloc(m->arena, (m->n_words + 2 * (size_t)blocking) * sizeof *out);
    m->value_types = spirv_grow_by_id(m, m->value_types, blocking);
    m->int_types = spirv_grow_by_id(m, m->int_types, blocking);
    m->pipes.waits = arena_alloc(m->arena, (size_t)m->bound + blocking);
    m->pipes.host_access = arena_alloc(m->arena, ((size_t)m->bound + blocking) * sizeof *m->pipes.host_access);
    m->pipes.is_storage = arena_alloc(m->arena, (size_t)m->bound + blocking);
    m->pipes.storage = arena_alloc(m->arena, ((size_t)m->bound + blocking) * sizeof *m->pipes.storage);
    m->pipes.bound = m->bound + blocking;
    memcpy(out, m->words, SPIRV_HEADER_WORDS * sizeof *out);
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16)
        n += take(m, m->words + at, out + n, type);
    out[3] = m->bound;
    m->words = out;
    m->n_words = n;
}
