/* Edges of the graph: what was asked for, and what follows from accesses (read after write, write after read,
   write after write, where the bytes overlap, and memory that is reached through pointers found in memory). */
#include "fuser/plan/graph/edges.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/plan/graph/places.h"
#include "ir/base/arena.h"

struct edge {
    uint32_t from, to;
};

struct edges {
    struct edge *list;
    size_t n, capacity;
    bool *placed; /* by use: it counts as what it touches at known places, else as all of its accessor */
};

enum { MOST_PLACED = 64 }; /* uses of a buffer that are looked at place by place */

struct list {
    uint32_t *items;
    uint32_t n, capacity;
};

/* Uses of a buffer that later ones may depend on. Those wholly overwritten since are left out: whoever depends
   on them depends on their overwriter, which depends on them. */
struct live {
    struct list readers, writers;
};

static void append(struct list *l, uint32_t item)
{
    if (l->n == l->capacity) {
        l->capacity = l->capacity ? 2 * l->capacity : 4;
        l->items = arena_realloc(l->items, l->capacity * sizeof *l->items);
    }
    l->items[l->n++] = item;
}

static void add_edge(struct edges *e, uint32_t from, uint32_t to)
{
    if (e->n == e->capacity) {
        e->capacity = e->capacity ? 2 * e->capacity : 256;
        e->list = arena_realloc(e->list, e->capacity * sizeof *e->list);
    }
    e->list[e->n++] = (struct edge){from, to};
}

/* From those of the list that overlap with the use; what it overwrites goes. */
static void edges_from(const struct plan_facts *f, struct edges *e, struct list *list, const struct plan_use *use,
                       bool placed)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct plan_use *before = &f->uses[list->items[i]];
        bool overlap = before->first < use->end && use->first < before->end, both = placed && e->placed[list->items[i]];
        if (both) overlap = overlap && !places_are_apart(f, before, use);
        if (overlap && before->node != use->node) add_edge(e, before->node, use->node);
        bool overwritten = use->writes && use->first <= before->first && before->end <= use->end;
        if (placed) overwritten = overwritten && both && places_cover(f, use, before);
        if (!overwritten || before->node == use->node) list->items[kept++] = list->items[i];
    }
    list->n = kept;
}

static void edges_of_use(const struct plan_facts *f, struct edges *e, struct live *live, uint32_t index)
{
    const struct plan_use *use = &f->uses[index];
    if (!use->reads && !use->writes) return;
    bool placed = live->writers.n + live->readers.n < MOST_PLACED && places_are_known(f, use);
    e->placed[index] = placed;
    edges_from(f, e, &live->writers, use, placed);
    if (use->writes) edges_from(f, e, &live->readers, use, placed);
    append(use->writes ? &live->writers : &live->readers, index);
}

/* ---- pointers found in memory ---- */

/* Buffers that such a pointer may lead to: USM allocations, and what a kernel stored the address of. */
static bool *reachable_buffers(struct plan_context *ctx, const struct plan_facts *f)
{
    bool *reachable = arena_alloc(ctx->arena, f->graph->n_buffers + 1);
    for (uint32_t i = 0; i < f->graph->n_buffers; i++) reachable[i] = f->graph->buffers[i].usm;
    for (uint32_t i = 0; i < f->n_uses; i++) {
        const struct access_analysis *a = f->nodes[f->uses[i].node].access;
        if (a && a->params[f->uses[i].arg].escapes) reachable[f->uses[i].buffer] = true;
    }
    return reachable;
}

/* Nodes in the order of recording, for which of the earlier ones have to be waited. */
struct pointer_followers {
    const bool *reachable;
    uint32_t last, last_writer; /* nodes that follow pointers found in memory, and that write there; NO_USE: none */
    struct list readers;        /* of reachable buffers, since last_writer */
    struct list writers;        /* of reachable buffers, since last */
};

static void edges_from_all(struct edges *e, struct list *list, uint32_t node)
{
    for (uint32_t i = 0; i < list->n; i++) add_edge(e, list->items[i], node);
    list->n = 0;
}

/* Those that follow pointers keep their order, so that each depends on what came since the one before only. */
static void follow_pointers(struct edges *e, struct pointer_followers *l, uint32_t node, bool writes)
{
    if (l->last != NO_USE) add_edge(e, l->last, node);
    edges_from_all(e, &l->writers, node);
    l->last = node;
    if (!writes) return;
    edges_from_all(e, &l->readers, node);
    l->last_writer = node;
}

static void edges_of_follower(const struct plan_facts *f, struct edges *e, struct pointer_followers *l, uint32_t node)
{
    const struct plan_node *n = &f->nodes[node];
    bool reads = false, writes = false;
    if (n->access && (n->access->unknown_reads || n->access->unknown_writes)) {
        follow_pointers(e, l, node, n->access->unknown_writes);
        return;
    }
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) {
        if (!l->reachable[f->uses[i].buffer]) continue;
        reads |= f->uses[i].reads;
        writes |= f->uses[i].writes;
    }
    uint32_t before = writes ? l->last : reads ? l->last_writer : NO_USE;
    if (before != NO_USE) add_edge(e, before, node);
    if (writes) append(&l->writers, node);
    if (reads && !writes) append(&l->readers, node);
}

/* Whose memory a pointer that comes from memory leads to is unknown: it may be any that there are pointers to. */
static void edges_of_pointers(struct plan_context *ctx, const struct plan_facts *f, struct edges *e)
{
    struct pointer_followers l = {.reachable = reachable_buffers(ctx, f), .last = NO_USE, .last_writer = NO_USE};
    for (uint32_t i = 0; i < f->graph->n_nodes; i++) edges_of_follower(f, e, &l, i);
    free(l.readers.items);
    free(l.writers.items);
}

/* Kernels with memory of their own that no argument names keep the order they were recorded in. */
static void edges_of_shared_state(const struct plan_facts *f, struct edges *e)
{
    uint32_t last = NO_USE;
    for (uint32_t i = 0; i < f->graph->n_nodes; i++) {
        if (!f->nodes[i].access || !f->nodes[i].access->shared_state) continue;
        if (last != NO_USE) add_edge(e, last, i);
        last = i;
    }
}

static int compare_edges(const void *x, const void *y)
{
    const struct edge *a = x, *b = y;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static void keep_edges(struct plan_context *ctx, uint32_t n, struct edges *e, struct plan_edges *out)
{
    if (e->n) qsort(e->list, e->n, sizeof *e->list, compare_edges);
    out->successors_start = arena_alloc(ctx->arena, (n + 1) * sizeof *out->successors_start);
    out->successors = arena_alloc(ctx->arena, (e->n + 1) * sizeof *out->successors);
    out->n_predecessors = arena_alloc(ctx->arena, (n + 1) * sizeof *out->n_predecessors);
    uint32_t kept = 0, node = 0;
    for (size_t i = 0; i < e->n; i++) {
        if (i && compare_edges(&e->list[i - 1], &e->list[i]) == 0) continue;
        while (node <= e->list[i].from) out->successors_start[node++] = kept;
        out->successors[kept++] = e->list[i].to;
        out->n_predecessors[e->list[i].to]++;
    }
    while (node <= n) out->successors_start[node++] = kept;
}

void edges_find(struct plan_context *ctx, const struct plan_facts *f, struct plan_edges *out)
{
    struct edges e = {.placed = arena_alloc(ctx->arena, f->n_uses + 1)};
    struct live *live = arena_alloc(ctx->arena, (f->graph->n_buffers + 1) * sizeof *live);
    for (uint32_t i = 0; i < f->n_uses; i++) edges_of_use(f, &e, &live[f->uses[i].buffer], i);
    for (uint32_t i = 0; i < f->graph->n_nodes; i++)
        for (uint32_t k = 0; k < f->graph->nodes[i].n_deps; k++) add_edge(&e, f->graph->nodes[i].deps[k], i);
    edges_of_shared_state(f, &e);
    edges_of_pointers(ctx, f, &e);
    keep_edges(ctx, f->graph->n_nodes, &e, out);
    for (uint32_t i = 0; i < f->graph->n_buffers; i++) {
        free(live[i].readers.items);
        free(live[i].writers.items);
    }
    free(e.list);
}
