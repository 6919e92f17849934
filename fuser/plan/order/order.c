/*
 * The linear order. It depends on the graph alone, not on the sequence in which unrelated nodes were recorded:
 *   1. copies, fills and host tasks go as long as one is ready and no kernel has been started;
 *   2. then kernels as long as one is ready, and so on in turns: whatever can go before or after all kernels does;
 *   3. among ready kernels, those with the ND-range of the kernel before come first;
 *   4. then the one of least depth, then the first by name.
 */
#include "fuser/plan/order/order.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/plan/order/heap.h"
#include "ir/base/arena.h"

struct ordering {
    struct plan_context *ctx;
    const struct plan_facts *facts;
    const struct plan_edges *edges;
    struct plan_order *out;
    uint32_t *depth; /* of each node: the longest path to it */
    uint32_t *class; /* of kernels: equal ND-ranges */
    bool *ordered;
    struct heap commands; /* what is no kernel */
    struct heap kernels;  /* all ready kernels; those ordered since are skipped */
    struct heap *of_class;
};

/* ---- cycles ---- */

/* For each node that could not be ordered a predecessor of the same kind, the first by name: the way back along
   a cycle. */
static uint32_t *stuck_predecessors(const struct ordering *o, const uint32_t *left)
{
    uint32_t n = o->facts->graph->n_nodes;
    uint32_t *best = arena_alloc(o->ctx->arena, (n + 1) * sizeof *best);
    for (uint32_t i = 0; i < n; i++) best[i] = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (!left[i]) continue;
        for (uint32_t k = o->edges->successors_start[i]; k < o->edges->successors_start[i + 1]; k++) {
            uint32_t *of = &best[o->edges->successors[k]];
            if (*of == UINT32_MAX || strcmp(o->facts->graph->nodes[i].name, o->facts->graph->nodes[*of].name) < 0)
                *of = i;
        }
    }
    return best;
}

static void append(char *text, size_t size, const char *more)
{
    size_t n = strlen(text), m = strlen(more);
    if (n + m + 5 >= size) {
        if (n + 4 < size && strcmp(text + n - (n < 3 ? n : 3), "...") != 0) strcpy(text + n, "...");
        return;
    }
    memcpy(text + n, more, m + 1);
}

/* left: predecessors not ordered yet, of each node. */
static bool report_cycle(struct ordering *o, const uint32_t *left)
{
    uint32_t n = o->facts->graph->n_nodes, at = 0, length = 0;
    uint32_t *path = arena_alloc(o->ctx->arena, (n + 1) * sizeof *path);
    bool *seen = arena_alloc(o->ctx->arena, n);
    const uint32_t *before = stuck_predecessors(o, left);
    while (!left[at]) at++;
    for (; !seen[at]; at = before[at]) {
        seen[at] = true;
        path[length++] = at;
    }
    uint32_t start = 0;
    while (path[start] != at) start++;
    uint32_t size = length - start, first = 0; /* path[start..] backwards is the cycle */
    for (uint32_t i = 1; i < size; i++)
        if (strcmp(o->facts->graph->nodes[path[start + i]].name, o->facts->graph->nodes[path[start + first]].name) < 0)
            first = i;
    char text[400] = "";
    for (uint32_t i = 0; i <= size; i++) {
        if (i) append(text, sizeof text, " -> ");
        append(text, sizeof text, o->facts->graph->nodes[path[start + (first + size - i % size) % size]].name);
    }
    return plan_fail(o->ctx, FUSER_INVALID, "graph", NULL, "a cycle of %u nodes: %s", size, text);
}

/* Depths in any topological order; false on a cycle. */
static bool find_depths(struct ordering *o)
{
    uint32_t n = o->facts->graph->n_nodes, done = 0, ready = 0;
    uint32_t *left = arena_alloc(o->ctx->arena, (n + 1) * sizeof *left);
    uint32_t *queue = arena_alloc(o->ctx->arena, (n + 1) * sizeof *queue);
    memcpy(left, o->edges->n_predecessors, n * sizeof *left);
    for (uint32_t i = 0; i < n; i++)
        if (!left[i]) queue[ready++] = i;
    while (done < ready) {
        uint32_t node = queue[done++];
        for (uint32_t k = o->edges->successors_start[node]; k < o->edges->successors_start[node + 1]; k++) {
            uint32_t to = o->edges->successors[k];
            if (o->depth[to] <= o->depth[node]) o->depth[to] = o->depth[node] + 1;
            if (--left[to] == 0) queue[ready++] = to;
        }
    }
    return done == n || report_cycle(o, left);
}

/* ---- ranks and classes ---- */

static int compare_ranks(const void *x, const void *y, void *data)
{
    const struct ordering *o = data;
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    if (o->depth[a] != o->depth[b]) return o->depth[a] < o->depth[b] ? -1 : 1;
    return strcmp(o->facts->graph->nodes[a].name, o->facts->graph->nodes[b].name);
}

static void rank_nodes(struct ordering *o)
{
    uint32_t n = o->facts->graph->n_nodes;
    o->out->by_rank = arena_alloc(o->ctx->arena, (n + 1) * sizeof *o->out->by_rank);
    o->out->rank = arena_alloc(o->ctx->arena, (n + 1) * sizeof *o->out->rank);
    for (uint32_t i = 0; i < n; i++) o->out->by_rank[i] = i;
    qsort_r(o->out->by_rank, n, sizeof *o->out->by_rank, compare_ranks, o);
    for (uint32_t i = 0; i < n; i++) o->out->rank[o->out->by_rank[i]] = i;
}

static int compare_ranges(const void *x, const void *y, void *data)
{
    const struct ordering *o = data;
    const struct nd_range *a = &o->facts->nodes[*(const uint32_t *)x].range,
                          *b = &o->facts->nodes[*(const uint32_t *)y].range;
    if (a->dims != b->dims) return a->dims < b->dims ? -1 : 1;
    int c = memcmp(a->global, b->global, sizeof a->global);
    if (!c) c = memcmp(a->offset, b->offset, sizeof a->offset);
    return c ? c : memcmp(a->local, b->local, sizeof a->local);
}

static void sort_into_classes(struct ordering *o)
{
    uint32_t n = 0, n_classes = 0;
    uint32_t *kernels = arena_alloc(o->ctx->arena, (o->facts->graph->n_nodes + 1) * sizeof *kernels);
    for (uint32_t i = 0; i < o->facts->graph->n_nodes; i++)
        if (o->facts->graph->nodes[i].kind == FUSER_NODE_KERNEL) kernels[n++] = i;
    qsort_r(kernels, n, sizeof *kernels, compare_ranges, o);
    o->of_class = arena_alloc(o->ctx->arena, (n + 1) * sizeof *o->of_class);
    uint32_t *room = arena_alloc(o->ctx->arena, (n + 1) * sizeof *room);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || compare_ranges(&kernels[i - 1], &kernels[i], o) != 0) o->of_class[n_classes++].ranks = &room[i];
        o->class[kernels[i]] = n_classes - 1;
    }
}

static void make_ready(struct ordering *o, uint32_t node)
{
    if (o->facts->graph->nodes[node].kind == FUSER_NODE_KERNEL) {
        heap_push(&o->kernels, o->out->rank[node]);
        heap_push(&o->of_class[o->class[node]], o->out->rank[node]);
    } else {
        heap_push(&o->commands, o->out->rank[node]);
    }
}

/* The next kernel, by preference of class `class` (UINT32_MAX: none); UINT32_MAX where none is ready. */
static uint32_t next_kernel(struct ordering *o, uint32_t class)
{
    if (class != UINT32_MAX)
        while (o->of_class[class].n) {
            uint32_t node = o->out->by_rank[heap_pop(&o->of_class[class])];
            if (!o->ordered[node]) return node;
        }
    while (o->kernels.n) {
        uint32_t node = o->out->by_rank[heap_pop(&o->kernels)];
        if (!o->ordered[node]) return node;
    }
    return UINT32_MAX;
}

static void order_all(struct ordering *o)
{
    uint32_t *left = arena_alloc(o->ctx->arena, (o->facts->graph->n_nodes + 1) * sizeof *left);
    memcpy(left, o->edges->n_predecessors, o->facts->graph->n_nodes * sizeof *left);
    for (uint32_t i = 0; i < o->facts->graph->n_nodes; i++)
        if (!left[i]) make_ready(o, i);
    bool in_kernels = false;
    uint32_t class = UINT32_MAX;
    while (o->out->n < o->facts->graph->n_nodes) {
        uint32_t node = in_kernels ? next_kernel(o, class) : UINT32_MAX;
        if (node == UINT32_MAX && o->commands.n) {
            node = o->out->by_rank[heap_pop(&o->commands)];
            in_kernels = false;
        } else if (node == UINT32_MAX) {
            in_kernels = true;
            continue;
        }
        if (in_kernels) class = o->class[node];
        o->ordered[node] = true;
        o->out->position[node] = o->out->n;
        o->out->nodes[o->out->n++] = node;
        for (uint32_t k = o->edges->successors_start[node]; k < o->edges->successors_start[node + 1]; k++)
            if (--left[o->edges->successors[k]] == 0) make_ready(o, o->edges->successors[k]);
    }
}

bool order_find(struct plan_context *ctx, const struct plan_facts *facts, const struct plan_edges *edges,
                struct plan_order *out)
{
    uint32_t n = facts->graph->n_nodes;
    struct ordering o = {.ctx = ctx,
                         .facts = facts,
                         .edges = edges,
                         .out = out,
                         .depth = arena_alloc(ctx->arena, (n + 1) * sizeof *o.depth),
                         .class = arena_alloc(ctx->arena, (n + 1) * sizeof *o.class),
                         .ordered = arena_alloc(ctx->arena, n + 1),
                         .commands.ranks = arena_alloc(ctx->arena, (n + 1) * sizeof(uint32_t)),
                         .kernels.ranks = arena_alloc(ctx->arena, (n + 1) * sizeof(uint32_t))};
    *out = (struct plan_order){.nodes = arena_alloc(ctx->arena, (n + 1) * sizeof *out->nodes),
                               .position = arena_alloc(ctx->arena, (n + 1) * sizeof *out->position)};
    if (!find_depths(&o)) return false;
    out->depth = o.depth;
    rank_nodes(&o);
    sort_into_classes(&o);
    order_all(&o);
    return true;
}
