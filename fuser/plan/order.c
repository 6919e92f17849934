/*
 * The linear order. It depends on the graph alone, not on the sequence in which unrelated nodes were recorded:
 *   1. copies, fills and host tasks go as long as one is ready and no kernel has been started;
 *   2. then kernels as long as one is ready, and so on in turns: whatever can go before or after all kernels does;
 *   3. among ready kernels, those with the ND-range of the kernel before come first;
 *   4. then the one of least depth, then the first by name.
 */
#include <stdlib.h>
#include <string.h>

#include "fuser/plan/heap.h"
#include "fuser/plan/planner.h"
#include "ir/base/arena.h"

/* ---- cycles ---- */

/* For each node that could not be ordered a predecessor of the same kind, the first by name: the way back along
   a cycle. */
static uint32_t *stuck_predecessors(const struct planner *p, const uint32_t *left)
{
    uint32_t n = p->graph->n_nodes;
    uint32_t *best = arena_alloc(p->arena, (n + 1) * sizeof *best);
    for (uint32_t i = 0; i < n; i++) best[i] = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (!left[i]) continue;
        for (uint32_t k = p->successors_start[i]; k < p->successors_start[i + 1]; k++) {
            uint32_t *of = &best[p->successors[k]];
            if (*of == UINT32_MAX || strcmp(p->graph->nodes[i].name, p->graph->nodes[*of].name) < 0) *of = i;
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
static bool report_cycle(struct planner *p, const uint32_t *left)
{
    uint32_t n = p->graph->n_nodes, at = 0, length = 0;
    uint32_t *path = arena_alloc(p->arena, (n + 1) * sizeof *path);
    bool *seen = arena_alloc(p->arena, n);
    const uint32_t *before = stuck_predecessors(p, left);
    while (!left[at]) at++;
    for (; !seen[at]; at = before[at]) {
        seen[at] = true;
        path[length++] = at;
    }
    uint32_t start = 0;
    while (path[start] != at) start++;
    uint32_t size = length - start, first = 0; /* path[start..] backwards is the cycle */
    for (uint32_t i = 1; i < size; i++)
        if (strcmp(p->graph->nodes[path[start + i]].name, p->graph->nodes[path[start + first]].name) < 0) first = i;
    char text[400] = "";
    for (uint32_t i = 0; i <= size; i++) {
        if (i) append(text, sizeof text, " -> ");
        append(text, sizeof text, p->graph->nodes[path[start + (first + size - i % size) % size]].name);
    }
    return plan_fail(p, FUSER_INVALID, "graph", NULL, "a cycle of %u nodes: %s", size, text);
}

/* Depths in any topological order; false on a cycle. */
static bool find_depths(struct planner *p)
{
    uint32_t n = p->graph->n_nodes, done = 0, ready = 0;
    uint32_t *left = arena_alloc(p->arena, (n + 1) * sizeof *left);
    uint32_t *queue = arena_alloc(p->arena, (n + 1) * sizeof *queue);
    memcpy(left, p->n_predecessors, n * sizeof *left);
    for (uint32_t i = 0; i < n; i++)
        if (!left[i]) queue[ready++] = i;
    while (done < ready) {
        uint32_t node = queue[done++];
        for (uint32_t k = p->successors_start[node]; k < p->successors_start[node + 1]; k++) {
            uint32_t to = p->successors[k];
            if (p->nodes[to].depth <= p->nodes[node].depth) p->nodes[to].depth = p->nodes[node].depth + 1;
            if (--left[to] == 0) queue[ready++] = to;
        }
    }
    return done == n || report_cycle(p, left);
}

/* ---- ranks and classes ---- */

static int compare_ranks(const void *x, const void *y, void *data)
{
    const struct planner *p = data;
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    if (p->nodes[a].depth != p->nodes[b].depth) return p->nodes[a].depth < p->nodes[b].depth ? -1 : 1;
    return strcmp(p->graph->nodes[a].name, p->graph->nodes[b].name);
}

static void rank_nodes(struct planner *p)
{
    uint32_t n = p->graph->n_nodes;
    p->by_rank = arena_alloc(p->arena, (n + 1) * sizeof *p->by_rank);
    p->rank = arena_alloc(p->arena, (n + 1) * sizeof *p->rank);
    for (uint32_t i = 0; i < n; i++) p->by_rank[i] = i;
    qsort_r(p->by_rank, n, sizeof *p->by_rank, compare_ranks, p);
    for (uint32_t i = 0; i < n; i++) p->rank[p->by_rank[i]] = i;
}

static int compare_ranges(const void *x, const void *y, void *data)
{
    const struct planner *p = data;
    const struct nd_range *a = &p->nodes[*(const uint32_t *)x].range, *b = &p->nodes[*(const uint32_t *)y].range;
    if (a->dims != b->dims) return a->dims < b->dims ? -1 : 1;
    int c = memcmp(a->global, b->global, sizeof a->global);
    if (!c) c = memcmp(a->offset, b->offset, sizeof a->offset);
    return c ? c : memcmp(a->local, b->local, sizeof a->local);
}

struct ordering {
    uint32_t *class; /* of kernels: equal ND-ranges */
    bool *ordered;
    struct heap commands; /* what is no kernel */
    struct heap kernels;  /* all ready kernels; those ordered since are skipped */
    struct heap *of_class;
};

static void sort_into_classes(struct planner *p, struct ordering *o)
{
    uint32_t n = 0, n_classes = 0;
    uint32_t *kernels = arena_alloc(p->arena, (p->graph->n_nodes + 1) * sizeof *kernels);
    for (uint32_t i = 0; i < p->graph->n_nodes; i++)
        if (p->graph->nodes[i].kind == FUSER_NODE_KERNEL) kernels[n++] = i;
    qsort_r(kernels, n, sizeof *kernels, compare_ranges, p);
    o->of_class = arena_alloc(p->arena, (n + 1) * sizeof *o->of_class);
    uint32_t *room = arena_alloc(p->arena, (n + 1) * sizeof *room);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || compare_ranges(&kernels[i - 1], &kernels[i], p) != 0) o->of_class[n_classes++].ranks = &room[i];
        o->class[kernels[i]] = n_classes - 1;
    }
}

static void make_ready(struct planner *p, struct ordering *o, uint32_t node)
{
    if (p->graph->nodes[node].kind == FUSER_NODE_KERNEL) {
        heap_push(&o->kernels, p->rank[node]);
        heap_push(&o->of_class[o->class[node]], p->rank[node]);
    } else {
        heap_push(&o->commands, p->rank[node]);
    }
}

/* The next kernel, by preference of class `class` (UINT32_MAX: none); UINT32_MAX where none is ready. */
static uint32_t next_kernel(const struct planner *p, struct ordering *o, uint32_t class)
{
    if (class != UINT32_MAX)
        while (o->of_class[class].n) {
            uint32_t node = p->by_rank[heap_pop(&o->of_class[class])];
            if (!o->ordered[node]) return node;
        }
    while (o->kernels.n) {
        uint32_t node = p->by_rank[heap_pop(&o->kernels)];
        if (!o->ordered[node]) return node;
    }
    return UINT32_MAX;
}

static void order_all(struct planner *p, struct ordering *o)
{
    struct fuser_plan *plan = p->plan;
    uint32_t *left = arena_alloc(p->arena, (p->graph->n_nodes + 1) * sizeof *left);
    memcpy(left, p->n_predecessors, p->graph->n_nodes * sizeof *left);
    for (uint32_t i = 0; i < p->graph->n_nodes; i++)
        if (!left[i]) make_ready(p, o, i);
    bool in_kernels = false;
    uint32_t class = UINT32_MAX;
    while (plan->n_order < p->graph->n_nodes) {
        uint32_t node = in_kernels ? next_kernel(p, o, class) : UINT32_MAX;
        if (node == UINT32_MAX && o->commands.n) {
            node = p->by_rank[heap_pop(&o->commands)];
            in_kernels = false;
        } else if (node == UINT32_MAX) {
            in_kernels = true;
            continue;
        }
        if (in_kernels) class = o->class[node];
        o->ordered[node] = true;
        p->nodes[node].position = plan->n_order;
        plan->order[plan->n_order++] = node;
        for (uint32_t k = p->successors_start[node]; k < p->successors_start[node + 1]; k++)
            if (--left[p->successors[k]] == 0) make_ready(p, o, p->successors[k]);
    }
}

bool plan_order(struct planner *p)
{
    if (!find_depths(p)) return false;
    uint32_t n = p->graph->n_nodes;
    struct ordering o = {.class = arena_alloc(p->arena, (n + 1) * sizeof *o.class),
                         .ordered = arena_alloc(p->arena, n + 1),
                         .commands.ranks = arena_alloc(p->arena, (n + 1) * sizeof(uint32_t)),
                         .kernels.ranks = arena_alloc(p->arena, (n + 1) * sizeof(uint32_t))};
    rank_nodes(p);
    sort_into_classes(p, &o);
    p->plan->order = arena_alloc(p->plan->arena, (n + 1) * sizeof *p->plan->order);
    order_all(p, &o);
    return true;
}
