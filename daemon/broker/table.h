/* A table from 64-bit numbers to pointers. Iterate with table_next from position 0; do not change it meanwhile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table {
    struct table_entry {
        uint64_t key;
        void *value; /* NULL: free place */
    } * entries;
    uint32_t capacity, count;
};

void *table_get(const struct table *t, uint64_t key);
bool table_put(struct table *t, uint64_t key, void *value); /* false: out of memory. Replaces */
void *table_remove(struct table *t, uint64_t key);          /* what it was, or NULL */
void *table_next(const struct table *t, uint32_t *position);
void table_clear(struct table *t); /* frees the table, not the values */
