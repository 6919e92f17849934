/* Which variables are needed, by way of addresses in initial values too. */
#include "ir/analysis/reachable_globals.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

void ir_held_open(struct ir_held *h, const struct ir_module *m)
{
    *h = (struct ir_held){.module = m};
    h->has = memset(arena_realloc(NULL, m->n_globals), 0, m->n_globals);
    h->list = arena_realloc(NULL, m->n_globals * sizeof *h->list);
    for (uint32_t i = 0; i < m->n_globals; i++) m->globals[i]->scratch = i;
}

void ir_held_close(struct ir_held *h)
{
    free(h->has);
    free(h->list);
}

static void add_one(struct ir_held *h, const struct ir_global *g)
{
    if (h->has[g->scratch]) return;
    h->has[g->scratch] = true;
    h->list[h->n++] = g;
}

void ir_held_add(struct ir_held *h, const struct ir_global *g)
{
    uint32_t done = h->n;
    add_one(h, g);
    for (; done < h->n; done++)
        for (uint32_t i = 0; i < h->list[done]->n_addresses; i++) add_one(h, h->list[done]->addresses[i].target);
}
