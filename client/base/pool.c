/* A list of chunks; a large piece has one of its own. */
#include "client/base/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 4000, LARGE = 1000 };

struct pool_chunk {
    struct pool_chunk *next;
    size_t used, size; /* of bytes */
    max_align_t bytes[];
};

/* The first of the list is the one that is being filled: it is passed over by large ones. */
static struct pool_chunk *add_chunk(struct client_pool *p, size_t size, bool large)
{
    struct pool_chunk *c = calloc(1, sizeof *c + size);
    if (!c) return NULL;
    c->size = size;
    struct pool_chunk **at = large && p->chunks ? &p->chunks->next : &p->chunks;
    c->next = *at;
    *at = c;
    return c;
}

static void *take(struct client_pool *p, size_t bytes)
{
    const size_t align = sizeof(max_align_t);
    if (bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + align) / align * align; /* one byte at least */
    struct pool_chunk *c = p->chunks;
    if (!c || c->size - c->used < bytes) c = add_chunk(p, bytes > LARGE ? bytes : CHUNK_BYTES, bytes > LARGE);
    if (!c) return NULL;
    void *piece = (char *)c->bytes + c->used;
    c->used += bytes;
    return piece;
}

void *client_pool_array(struct client_pool *p, size_t n, size_t item)
{
    size_t bytes;
    void *piece = __builtin_mul_overflow(n, item, &bytes) ? NULL : take(p, bytes);
    if (!piece) p->failed = true;
    return piece;
}

void *client_pool_copy(struct client_pool *p, const void *data, size_t bytes)
{
    void *piece = client_pool_array(p, bytes, 1);
    if (piece && bytes) memcpy(piece, data, bytes);
    return piece;
}

const char *client_pool_text(struct client_pool *p, const char *text, size_t bytes)
{
    char *piece = client_pool_array(p, bytes + 1, 1);
    if (!piece) return "";
    if (bytes) memcpy(piece, text, bytes);
    return piece;
}

void client_pool_clear(struct client_pool *p)
{
    while (p->chunks) {
        struct pool_chunk *c = p->chunks;
        p->chunks = c->next;
        free(c);
    }
    p->failed = false;
}
