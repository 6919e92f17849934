/* A map from strings to pointers whose cost no choice of strings can drive up (a crit-bit tree). */
#pragma once

#include <stddef.h>

struct arena;

/* All zeros but the arena is an empty map; it goes with the arena. */
struct names {
    struct arena *arena;
    void *root;
};

/* Where the pointer for the n bytes of name is kept: NULL in a new entry. The bytes hold no 0 and must
   stay where they are. */
void **names_put(struct names *map, const char *name, size_t n);
/* The pointer kept for the name, or NULL. */
void *names_get(const struct names *map, const char *name, size_t n);
