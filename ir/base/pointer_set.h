/* A set of addresses. All zeros is an empty one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct pointer_set {
    const void **slots; /* open addressing; NULL: free */
    size_t n, capacity; /* capacity is 0 or a power of two */
};

bool pointer_set_add(struct pointer_set *set, const void *p); /* false: it was there */
bool pointer_set_has(const struct pointer_set *set, const void *p);
void pointer_set_clear(struct pointer_set *set);
