/* Linear probing. What probed past an entry that goes moves up, so that a search ends at the first free place. */
#include "ir/base/map.h"

#include <stddef.h>
#include <stdlib.h>

enum { SMALLEST = 16 };

static uint32_t first_place(const struct map *m, uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (m->capacity - 1);
}

/* Of the key, or the free one where it would go. */
static uint32_t place_of(const struct map *m, uint64_t key)
{
    uint32_t at = first_place(m, key);
    while (m->entries[at].used && m->entries[at].key != key) at = (at + 1) & (m->capacity - 1);
    return at;
}

struct map_entry *map_find(const struct map *m, uint64_t key)
{
    struct map_entry *entry = m->capacity ? &m->entries[place_of(m, key)] : NULL;
    return entry && entry->used ? entry : NULL;
}

static bool grow(struct map *m)
{
    struct map larger = {.capacity = m->capacity ? m->capacity * 2 : SMALLEST, .count = m->count};
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (!larger.entries) return false;
    for (uint32_t i = 0; i < m->capacity; i++)
        if (m->entries[i].used) larger.entries[place_of(&larger, m->entries[i].key)] = m->entries[i];
    free(m->entries);
    *m = larger;
    return true;
}

struct map_entry *map_make(struct map *m, uint64_t key)
{
    struct map_entry *entry = map_find(m, key);
    if (entry) return entry;
    if (m->count + 1 > m->capacity / 4 * 3 && !grow(m)) return NULL;
    entry = &m->entries[place_of(m, key)];
    *entry = (struct map_entry){.key = key, .used = true};
    m->count++;
    return entry;
}

void *map_get(const struct map *m, uint64_t key)
{
    const struct map_entry *entry = map_find(m, key);
    return entry ? entry->pointer : NULL;
}

bool map_put(struct map *m, uint64_t key, void *pointer)
{
    struct map_entry *entry = map_make(m, key);
    if (entry) entry->pointer = pointer;
    return entry;
}

void *map_remove(struct map *m, uint64_t key)
{
    if (!map_find(m, key)) return NULL;
    uint32_t hole = place_of(m, key), mask = m->capacity - 1;
    void *pointer = m->entries[hole].pointer;
    m->count--;
    for (uint32_t at = (hole + 1) & mask; m->entries[at].used; at = (at + 1) & mask) {
        if (((at - first_place(m, m->entries[at].key)) & mask) < ((at - hole) & mask)) continue;
        m->entries[hole] = m->entries[at];
        hole = at;
    }
    m->entries[hole].used = false;
    return pointer;
}

struct map_entry *map_next(const struct map *m, uint32_t *position)
{
    while (*position < m->capacity)
        if (m->entries[(*position)++].used) return &m->entries[*position - 1];
    return NULL;
}

void map_clear(struct map *m)
{
    free(m->entries);
    *m = (struct map){0};
}
