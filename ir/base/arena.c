/* The arena: a list of chunks, each twice as large as the one before, from 4 kB to 64 kB. */
#include "ir/base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 65536 };

struct chunk {
    struct chunk *next;
    size_t used, size; /* of bytes */
    uint64_t bytes[];
};

struct arena {
    struct chunk *chunks; /* the first one is being filled */
    size_t held;
};

_Noreturn void arena_no_memory(size_t bytes)
{
    fprintf(stderr, "fusion: out of memory (%zu bytes asked for)\n", bytes);
    abort();
}

void *arena_realloc(void *p, size_t bytes)
{
    void *q = realloc(p, bytes ? bytes : 1);
    if (!q) arena_no_memory(bytes);
    return q;
}

struct arena *arena_new(void)
{
    struct arena *a = calloc(1, sizeof *a);
    if (!a) arena_no_memory(sizeof *a);
    return a;
}

void arena_free(struct arena *a)
{
    if (!a) return;
    for (struct chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}

static struct chunk *chunk_new(struct arena *a, size_t room)
{
    if (room > SIZE_MAX / 2) arena_no_memory(room);
    struct chunk *c = calloc(1, sizeof *c + room);
    if (!c) arena_no_memory(room);
    c->size = room;
    a->held += sizeof *c + room;
    return c;
}

/* A piece with a chunk of its own goes behind the one that is being filled. */
static void *alloc_large(struct arena *a, size_t bytes)
{
    struct chunk *c = chunk_new(a, bytes);
    c->used = bytes;
    if (a->chunks) {
        c->next = a->chunks->next;
        a->chunks->next = c;
    } else {
        a->chunks = c;
    }
    return c->bytes;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX - 7) arena_no_memory(bytes);
    bytes = (bytes + 7) & ~(size_t)7;
    struct chunk *c = a->chunks;
    if (!c || c->size - c->used < bytes) {
        if (bytes > FIRST_CHUNK / 4) return alloc_large(a, bytes);
        size_t room = FIRST_CHUNK - sizeof *c;
        if (a->held >= FIRST_CHUNK) room = (a->held < LARGEST_CHUNK ? a->held : LARGEST_CHUNK) - sizeof *c;
        struct chunk *fresh = chunk_new(a, room & ~(size_t)7);
        fresh->next = c;
        a->chunks = c = fresh;
    }
    void *p = (char *)c->bytes + c->used;
    c->used += bytes;
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *copy = arena_alloc(a, n + 1);
    memcpy(copy, s, n);
    return copy;
}

void *arena_grow(struct arena *a, void *array, size_t n, size_t element_size)
{
    if (n & (n - 1)) return array; /* 0 and the powers of two are full */
    void *larger = arena_alloc(a, (n ? 2 * n : 1) * element_size);
    if (n) memcpy(larger, array, n * element_size);
    return larger;
}

size_t arena_size(const struct arena *a)
{
    return a->held;
}
