/* Copies and fills of which nobody reads what they write before it is written again. */
#include "fuser/plan/graph/overwritten.h"

#include <string.h>

#include "fuser/access/footprint.h"
#include "ir/base/arena.h"

static bool is_command(const struct fuser_node *n)
{
    return n->kind == FUSER_NODE_COPY || n->kind == FUSER_NODE_FILL;
}

/* ---- who overwrites ---- */

/* What was taken for granted of scalars may not hold; then the kernel may write less. */
static bool goes_by_numbers(const struct access_analysis *a)
{
    for (uint32_t i = 0; i < a->n_params; i++)
        if (a->params[i].number) return true;
    return false;
}

/* Each work-item comes to the store, whose place depends on nothing but its ids. */
static bool is_certain(const struct access_site *s)
{
    return s->writes && !s->conditional && !s->unsure && s->found_one && s->bytes && affine_is_exact(&s->index) &&
           !s->index.n_symbols && !s->index.jump;
}

static bool same_items(const struct access_site *a, const struct access_site *b)
{
    return memcmp(&a->items, &b->items, sizeof a->items) == 0;
}

/* The stores that all work-items come to, at the same factors of their ids. */
static struct access_summary certain_stores(struct arena *arena, const struct access_summary *s)
{
    struct access_summary certain = {.writes = true};
    certain.sites = arena_alloc(arena, (s->n_sites + 1) * sizeof *certain.sites);
    for (uint32_t i = 0; i < s->n_sites; i++) {
        const struct access_site *site = &s->sites[i], *first = certain.sites;
        if (!is_certain(site)) continue;
        if (certain.n_sites && !(same_items(first, site) && affine_same_factors(&first->index, &site->index))) continue;
        certain.sites[certain.n_sites++] = *site;
    }
    return certain;
}

/* No store lies outside of the `whole` bytes. */
static bool lies_inside(const struct access_summary *s, uint64_t whole)
{
    for (uint32_t i = 0; i < s->n_sites; i++) {
        const struct access_site *site = &s->sites[i];
        struct affine_bounds bounds = {0};
        int64_t low, high;
        for (unsigned d = 0; d < 3; d++) {
            bounds.low[AFFINE_GLOBAL + d] = site->items.first[d];
            bounds.high[AFFINE_GLOBAL + d] = site->items.last[d];
        }
        for (unsigned k = AFFINE_LOCAL; k < AFFINE_IDS; k++)
            if (site->index.factor[k]) return false;
        if (!affine_range(&site->index, &bounds, &low, &high)) return false;
        if (low < 0 || (uint64_t)high + site->bytes > whole) return false;
    }
    return true;
}

/* As many different bytes as there are, none of them outside: all of them. */
static bool kernel_writes_all(struct plan_context *ctx, const struct plan_facts *f, const struct plan_use *use)
{
    const struct plan_node *n = &f->nodes[use->node];
    const struct access_summary *s = &n->access->params[use->arg];
    uint64_t whole = use->end - use->first;
    if (s->escapes || !s->n_sites || goes_by_numbers(n->access)) return false;
    struct access_summary stores = certain_stores(ctx->arena, s);
    return stores.n_sites && lies_inside(&stores, whole) && footprint_is_owned_by_item(&stores, &n->range) &&
           footprint_bytes_one_way(&stores, &n->range, whole, true) == whole;
}

static bool writes_all(struct plan_context *ctx, const struct plan_facts *f, const struct plan_use *use)
{
    const struct fuser_node *n = &f->graph->nodes[use->node];
    if (n->kind == FUSER_NODE_KERNEL) return kernel_writes_all(ctx, f, use);
    return is_command(n) && !n->rows;
}

/* ---- commands ---- */

/* Some node may read any memory, whatever its arguments. */
static bool anything_is_read(const struct plan_facts *f)
{
    for (uint32_t i = 0; i < f->graph->n_nodes; i++) {
        const struct access_analysis *a = f->nodes[i].access;
        if (a ? a->unknown_reads : f->graph->nodes[i].kind == FUSER_NODE_HOST && !f->graph->nodes[i].n_args)
            return true;
    }
    return false;
}

/* Through another argument, perhaps. */
static bool reads_buffer(const struct plan_facts *f, uint32_t node, uint32_t buffer)
{
    const struct plan_node *n = &f->nodes[node];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++)
        if (f->uses[i].buffer == buffer && (f->uses[i].reads || !f->uses[i].writes)) return true;
    return false;
}

/* Nodes that share the written bytes run in the order they were recorded in. */
static uint32_t overwriter_of(struct plan_context *ctx, const struct plan_facts *f, const struct plan_use *written)
{
    for (uint32_t i = f->buffer_uses_start[written->buffer]; i < f->buffer_uses_start[written->buffer + 1]; i++) {
        const struct plan_use *use = &f->uses[f->buffer_uses[i]];
        if (use->node <= written->node || use->first >= written->end || written->first >= use->end) continue;
        if (reads_buffer(f, use->node, use->buffer)) return NO_OVERWRITER;
        if (use->first <= written->first && use->end >= written->end && writes_all(ctx, f, use)) return use->node;
    }
    return NO_OVERWRITER;
}

const uint32_t *overwriters_find(struct plan_context *ctx, const struct plan_facts *f)
{
    uint32_t n = f->graph->n_nodes, found = 0;
    uint32_t *by = arena_alloc(ctx->arena, (n + 1) * sizeof *by);
    bool fusing = ctx->options->mode != FUSER_MODE_NONE && ctx->options->device.can_fuse;
    if (!fusing || anything_is_read(f)) return NULL;
    for (uint32_t i = 0; i < n; i++) {
        by[i] = NO_OVERWRITER;
        if (!is_command(&f->graph->nodes[i])) continue;
        by[i] = overwriter_of(ctx, f, &f->uses[f->nodes[i].first_use + f->nodes[i].n_uses - 1]);
        found += by[i] != NO_OVERWRITER;
    }
    return found ? by : NULL;
}
