/* From numbers other than 0 to numbers. All 0 is an empty one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct client_map {
    uint64_t *keys; /* 0: free */
    uint32_t *values;
    uint32_t n, capacity; /* 0 or a power of two */
};

bool client_map_get(const struct client_map *m, uint64_t key, uint32_t *value);
bool client_map_put(struct client_map *m, uint64_t key, uint32_t value); /* false: no memory */
void client_map_clear(struct client_map *m);
