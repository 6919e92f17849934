/* A hash table with open addressing. */
#include "client/map.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 16 };

/* Where the key is, or would go. */
static uint32_t place_of(const struct client_map *m, uint64_t key)
{
    uint64_t hash = key * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(hash >> 32) & (m->capacity - 1);
    while (m->keys[at] && m->keys[at] != key) at = (at + 1) & (m->capacity - 1);
    return at;
}

static bool grow(struct client_map *m)
{
    struct client_map more = {.capacity = m->capacity ? 2 * m->capacity : FIRST_CAPACITY};
    more.keys = calloc(more.capacity, sizeof *more.keys);
    more.values = calloc(more.capacity, sizeof *more.values);
    if (!more.keys || !more.values) {
        client_map_clear(&more);
        return false;
    }
    for (uint32_t i = 0; i < m->capacity; i++)
        if (m->keys[i]) client_map_put(&more, m->keys[i], m->values[i]);
    client_map_clear(m);
    *m = more;
    return true;
}

bool client_map_get(const struct client_map *m, uint64_t key, uint32_t *value)
{
    if (!m->n) return false;
    uint32_t at = place_of(m, key);
    if (m->keys[at]) *value = m->values[at];
    return m->keys[at];
}

bool client_map_put(struct client_map *m, uint64_t key, uint32_t value)
{
    if (m->n >= m->capacity / 2 && !grow(m)) return false;
    uint32_t at = place_of(m, key);
    m->n += m->keys[at] == 0;
    m->keys[at] = key;
    m->values[at] = value;
    return true;
}

void client_map_clear(struct client_map *m)
{
    free(m->keys);
    free(m->values);
    *m = (struct client_map){0};
}
