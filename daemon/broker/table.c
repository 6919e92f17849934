/* A table from 64-bit numbers to pointers: open addressing, linear probing, no tombstones. */
#include "daemon/broker/table.h"

#include <stdlib.h>

enum { SMALLEST = 16 };

static uint32_t home(const struct table *t, uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->capacity - 1);
}

/* Where key is, or the free place where it would be. */
static uint32_t find(const struct table *t, uint64_t key)
{
    uint32_t at = home(t, key);
    while (t->entries[at].value && t->entries[at].key != key) at = (at + 1) & (t->capacity - 1);
    return at;
}

void *table_get(const struct table *t, uint64_t key)
{
    return t->capacity ? t->entries[find(t, key)].value : NULL;
}

static bool grow(struct table *t)
{
    struct table bigger = {.capacity = t->capacity ? t->capacity * 2 : SMALLEST, .count = t->count};
    bigger.entries = calloc(bigger.capacity, sizeof *bigger.entries);
    if (!bigger.entries) return false;
    for (uint32_t i = 0; i < t->capacity; i++)
        if (t->entries[i].value) bigger.entries[find(&bigger, t->entries[i].key)] = t->entries[i];
    free(t->entries);
    *t = bigger;
    return true;
}

bool table_put(struct table *t, uint64_t key, void *value)
{
    if (t->count * 4 >= t->capacity * 3 && !grow(t)) return false;
    struct table_entry *entry = &t->entries[find(t, key)];
    if (!entry->value) t->count++;
    *entry = (struct table_entry){key, value};
    return true;
}

void *table_remove(struct table *t, uint64_t key)
{
    if (!t->capacity) return NULL;
    uint32_t hole = find(t, key), mask = t->capacity - 1;
    void *value = t->entries[hole].value;
    if (!value) return NULL;
    t->count--;
    /* Moves up what probed past the hole, until the run ends. */
    for (uint32_t at = (hole + 1) & mask; t->entries[at].value; at = (at + 1) & mask) {
        if (((at - home(t, t->entries[at].key)) & mask) < ((at - hole) & mask)) continue;
        t->entries[hole] = t->entries[at];
        hole = at;
    }
    t->entries[hole].value = NULL;
    return value;
}

void *table_next(const struct table *t, uint32_t *position)
{
    while (*position < t->capacity) {
        void *value = t->entries[(*position)++].value;
        if (value) return value;
    }
    return NULL;
}

void table_clear(struct table *t)
{
    free(t->entries);
    *t = (struct table){0};
}
