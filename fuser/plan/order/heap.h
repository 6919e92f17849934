/* A heap of numbers, the least on top; the caller gives the room. */
#pragma once

#include <stdint.h>

struct heap {
    uint32_t *ranks;
    uint32_t n;
};

void heap_push(struct heap *h, uint32_t rank);
uint32_t heap_pop(struct heap *h); /* not of an empty one */
