/* A heap of numbers, the least on top. */
#include "fuser/plan/order/heap.h"

void heap_push(struct heap *h, uint32_t rank)
{
    uint32_t at = h->n++;
    for (; at > 0 && h->ranks[(at - 1) / 2] > rank; at = (at - 1) / 2) h->ranks[at] = h->ranks[(at - 1) / 2];
    h->ranks[at] = rank;
}

uint32_t heap_pop(struct heap *h)
{
    uint32_t top = h->ranks[0], rank = h->ranks[--h->n], at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= h->n) break;
        if (child + 1 < h->n && h->ranks[child + 1] < h->ranks[child]) child++;
        if (h->ranks[child] >= rank) break;
        h->ranks[at] = h->ranks[child];
        at = child;
    }
    h->ranks[at] = rank;
    return top;
}
