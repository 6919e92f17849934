/* Bundles, read and written. */
#include "fuser/features/bundle.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

enum { MAGIC_BYTES = 16, HEAD_BYTES = 12, MAX_NAME = 4096 };

void bundle_init(struct bundle *b)
{
    *b = (struct bundle){.arena = arena_new()};
    b->by_name.arena = b->arena;
}

void bundle_clear(struct bundle *b)
{
    if (b->arena) arena_free(b->arena);
    *b = (struct bundle){0};
}

/* False: there is one of this name. */
static bool add(struct bundle *b, const char *name, size_t length, const uint8_t *bytes, size_t size)
{
    const char *copy = arena_strndup(b->arena, name, length);
    uintptr_t *place = (uintptr_t *)names_put(&b->by_name, copy, length);
    if (*place) return false;
    b->members = arena_grow(b->arena, b->members, b->n_members, sizeof *b->members);
    b->members[b->n_members] = (struct bundle_member){copy, bytes, size};
    *place = ++b->n_members;
    return true;
}

void bundle_add(struct bundle *b, const char *name, const void *bytes, size_t size)
{
    uint8_t *copy = arena_alloc(b->arena, size + 1);
    if (size) memcpy(copy, bytes, size);
    add(b, name, strlen(name), copy, size);
}

const struct bundle_member *bundle_find(const struct bundle *b, const char *name)
{
    uintptr_t place = (uintptr_t)names_get(&b->by_name, name, strlen(name));
    return place ? &b->members[place - 1] : NULL;
}

const char *bundle_text(const struct bundle *b, const char *name)
{
    const struct bundle_member *m = bundle_find(b, name);
    if (!m || memchr(m->bytes, 0, m->size)) return NULL;
    return arena_strndup(b->arena, (const char *)m->bytes, m->size);
}

/* ---- bytes ---- */

static uint64_t get(const uint8_t *at, unsigned n)
{
    uint64_t value = 0;
    while (n--) value = value << 8 | at[n];
    return value;
}

static uint8_t *put(uint8_t *at, uint64_t value, unsigned n)
{
    for (; n--; value >>= 8) *at++ = (uint8_t)value;
    return at;
}

bool bundle_is(const void *bytes, size_t size)
{
    return size >= MAGIC_BYTES && memcmp(bytes, BUNDLE_MAGIC, MAGIC_BYTES) == 0;
}

/* The member that begins there, whose head is in the rest: how many bytes it takes, or 0 where it is wrong. */
static size_t read_member(struct bundle *b, const uint8_t *at, size_t left)
{
    size_t length = get(at, 4);
    uint64_t size = get(at + 4, 8);
    const char *name = (const char *)at + HEAD_BYTES;
    if (!length || length > MAX_NAME || length > left - HEAD_BYTES || size > left - HEAD_BYTES - length) return 0;
    if (memchr(name, 0, length) || b->n_members == BUNDLE_MAX_MEMBERS) return 0;
    if (!add(b, name, length, at + HEAD_BYTES + length, (size_t)size)) return 0;
    return HEAD_BYTES + length + (size_t)size;
}

int bundle_read(struct bundle *b, const void *bytes, size_t size, const char *name, struct error *e)
{
    const uint8_t *at = (const uint8_t *)bytes + MAGIC_BYTES;
    if (!bundle_is(bytes, size)) return error_set(e, 1, name, "it is no bundle of this version");
    for (size_t left = size - MAGIC_BYTES; left;) {
        size_t taken = left < HEAD_BYTES ? 0 : read_member(b, at, left);
        if (!taken)
            return error_set(e, 1, name, "member %zu, at byte %zu, is cut short, is there twice or has no name",
                             b->n_members, (size_t)(at - (const uint8_t *)bytes));
        at += taken;
        left -= taken;
    }
    return 0;
}

uint8_t *bundle_write(const struct bundle *b, size_t *size)
{
    *size = MAGIC_BYTES;
    for (size_t i = 0; i < b->n_members; i++) *size += HEAD_BYTES + strlen(b->members[i].name) + b->members[i].size;
    uint8_t *bytes = arena_realloc(NULL, *size), *at = bytes + MAGIC_BYTES;
    memcpy(bytes, BUNDLE_MAGIC, MAGIC_BYTES);
    for (size_t i = 0; i < b->n_members; i++) {
        const struct bundle_member *m = &b->members[i];
        size_t length = strlen(m->name);
        at = put(put(at, length, 4), m->size, 8);
        memcpy(at, m->name, length);
        if (m->size) memcpy(at + length, m->bytes, m->size);
        at += length + m->size;
    }
    return bytes;
}
