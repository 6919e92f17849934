/* A map from 64-bit numbers to pointers or numbers: a hash table with open addressing and no tombstones. All zeros is
 * an empty one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct map_entry {
    uint64_t key;
    union {
        void *pointer;
        uint64_t number;
    };
    bool used;
};

struct map {
    struct map_entry *entries;
    uint32_t capacity, count; /* capacity is 0 or a power of two */
};

/* The entry of the key, NULL where there is none. It stays there until the next change. */
struct map_entry *map_find(const struct map *m, uint64_t key);
/* The same, but made where there is none, with number 0. NULL: out of memory, and nothing changed. */
struct map_entry *map_make(struct map *m, uint64_t key);
/* For maps to pointers: the pointer kept for the key, or NULL; false: out of memory; the pointer that was kept, or
 * NULL. */
void *map_get(const struct map *m, uint64_t key);
bool map_put(struct map *m, uint64_t key, void *pointer);
void *map_remove(struct map *m, uint64_t key);
/* Each entry in turn from position 0, then NULL. The map must not change meanwhile. */
struct map_entry *map_next(const struct map *m, uint32_t *position);
void map_clear(struct map *m); /* frees the table, not what its pointers point to */
