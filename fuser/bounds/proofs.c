/* Which accesses are proved: all bytes that any work-item may touch there are in the memory. */
#include "fuser/bounds/proofs.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

enum { NOT_SEEN, PROVED, NOT_PROVED };

/* The ids of those who may get there. Nothing is taken for granted of where they are in work-groups. */
static struct affine_bounds bounds_of(const struct access_site *site, const struct nd_range *range)
{
    struct affine_bounds b = {0};
    for (unsigned d = 0; d < 3; d++) {
        int64_t items = (int64_t)range->global[d], local = (int64_t)range->local[d];
        b.low[AFFINE_GLOBAL + d] = site->items.first[d];
        b.high[AFFINE_GLOBAL + d] = site->items.last[d];
        b.high[AFFINE_LOCAL + d] = (local && local < items ? local : items) - 1;
        b.high[AFFINE_GROUP + d] = local ? (items - 1) / local : items - 1;
    }
    b.high[AFFINE_SUB_GROUP] = b.high[AFFINE_LOCAL];
    b.high[AFFINE_LANE] = site->sub_group_size ? site->sub_group_size - 1 : b.high[AFFINE_LOCAL];
    return b;
}

static bool is_inside(const struct access_site *site, const struct nd_range *range, uint64_t bytes)
{
    struct affine_bounds bounds = bounds_of(site, range);
    int64_t low, high;
    for (unsigned d = 0; d < 3; d++)
        if (site->items.first[d] > site->items.last[d]) return true; /* nobody gets there */
    if (!site->index.known || !site->bytes || !affine_range(&site->index, &bounds, &low, &high)) return false;
    return low >= 0 && (uint64_t)high <= bytes && site->bytes <= bytes - (uint64_t)high;
}

static void see_sites(struct proofs *p, const struct access_summary *s, const struct nd_range *range,
                      const struct places *places)
{
    for (uint32_t i = 0; i < s->n_sites; i++) {
        const struct access_site *site = &s->sites[i];
        unsigned operand = site->inst->op == IR_OP_COPY && site->reads;
        int32_t root = places_root(places, site->inst->operands[operand]);
        uint8_t *state = &p->state[site->inst->scratch][operand];
        bool proved = root > 0 && is_inside(site, range, places->roots[root].bytes);
        *state = proved && *state != NOT_PROVED ? PROVED : NOT_PROVED;
    }
}

static void number(struct ir_inst *inst, void *data)
{
    inst->scratch = ++*(uint32_t *)data;
}

void proofs_find(struct proofs *p, struct ir_function *kernel, const struct access_analysis *access,
                 const struct nd_range *range, const struct places *places)
{
    uint32_t n = 0;
    ir_walk(kernel->body, number, &n);
    p->state = memset(arena_realloc(NULL, (n + 1) * sizeof *p->state), 0, (n + 1) * sizeof *p->state);
    for (uint32_t i = 0; i < access->n_params; i++) see_sites(p, &access->params[i], range, places);
    see_sites(p, &access->own, range, places);
}

void proofs_clear(struct proofs *p)
{
    free(p->state);
}

bool proofs_has(const struct proofs *p, const struct ir_inst *inst, unsigned operand)
{
    return p->state[inst->scratch][operand] == PROVED;
}
