/* A stack: what a block adds goes where it ends. Few are there at a time, the last ones are asked for most. */
#include "fuser/cpu/simd/computed.h"

enum { FARTHEST = 64 };

struct computed_item {
    const void *of;
    uint64_t detail;
    void *made;
};

void *computed_find(const struct emit *e, const void *of, uint64_t detail)
{
    const struct computed *c = &e->computed;
    for (uint32_t i = c->n; i-- > 0 && c->n - i <= FARTHEST;)
        if (c->items[i].of == of && c->items[i].detail == detail) return c->items[i].made;
    return NULL;
}

void computed_add(struct emit *e, const void *of, uint64_t detail, void *made)
{
    struct computed *c = &e->computed;
    c->items = arena_grow(e->arena, c->items, c->n, sizeof *c->items);
    c->items[c->n++] = (struct computed_item){of, detail, made};
}
