/* A set of addresses, by open addressing. */
#include "ir/base/pointer_set.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

/* The slot that holds p, or the free one where it belongs. */
static const void **slot_of(const struct pointer_set *set, const void *p)
{
    size_t i = (size_t)((uint64_t)(uintptr_t)p * 0x9e3779b97f4a7c15u >> 32);
    while (set->slots[i & (set->capacity - 1)] && set->slots[i & (set->capacity - 1)] != p) i++;
    return &set->slots[i & (set->capacity - 1)];
}

static void grow(struct pointer_set *set)
{
    struct pointer_set larger = {.n = set->n, .capacity = set->capacity ? 2 * set->capacity : 32};
    size_t bytes = larger.capacity * sizeof *larger.slots;
    larger.slots = memset(arena_realloc(NULL, bytes), 0, bytes);
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i]) *slot_of(&larger, set->slots[i]) = set->slots[i];
    free(set->slots);
    *set = larger;
}

bool pointer_set_add(struct pointer_set *set, const void *p)
{
    if (2 * set->n >= set->capacity) grow(set);
    const void **slot = slot_of(set, p);
    if (*slot) return false;
    *slot = p;
    set->n++;
    return true;
}

bool pointer_set_has(const struct pointer_set *set, const void *p)
{
    return set->capacity && *slot_of(set, p);
}

void pointer_set_clear(struct pointer_set *set)
{
    free(set->slots);
    *set = (struct pointer_set){0};
}
