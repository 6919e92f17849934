/* Edges of the graph: what was asked for, and what follows from accesses (read after write, write after read,
   write after write, where the bytes overlap). */
#include <stdlib.h>
#include <string.h>

#include "fuser/plan/planner.h"
#include "ir/arena.h"

struct edge {
    uint32_t from, to;
};

struct edges {
    struct edge *list;
    size_t n, capacity;
};

/* Uses of a buffer that later ones may depend on. Those wholly overwritten since are left out: whoever depends
   on them depends on their overwriter, which depends on them. */
struct live {
    uint32_t *uses;
    uint32_t n, capacity;
};

static void add_edge(struct edges *e, uint32_t from, uint32_t to)
{
    if (e->n == e->capacity) {
        e->capacity = e->capacity ? 2 * e->capacity : 256;
        e->list = arena_realloc(e->list, e->capacity * sizeof *e->list);
    }
    e->list[e->n++] = (struct edge){from, to};
}

static void edges_of_use(const struct planner *p, struct edges *e, struct live *live, uint32_t index)
{
    const struct plan_use *use = &p->uses[index];
    uint32_t kept = 0;
    if (!use->reads && !use->writes) return;
    for (uint32_t i = 0; i < live->n; i++) {
        const struct plan_use *before = &p->uses[live->uses[i]];
        bool overlap = before->first < use->end && use->first < before->end;
        if (overlap && (before->writes || use->writes) && before->node != use->node)
            add_edge(e, before->node, use->node);
        bool overwritten = use->writes && use->first <= before->first && before->end <= use->end;
        if (!overwritten || before->node == use->node) live->uses[kept++] = live->uses[i];
    }
    live->n = kept;
    if (live->n == live->capacity) {
        live->capacity = live->capacity ? 2 * live->capacity : 4;
        live->uses = arena_realloc(live->uses, live->capacity * sizeof *live->uses);
    }
    live->uses[live->n++] = index;
}

/* Kernels with memory of their own that no argument names keep the order they were recorded in. */
static void edges_of_state(struct planner *p, struct edges *e)
{
    uint32_t last = NO_USE;
    for (uint32_t i = 0; i < p->graph->n_nodes; i++) {
        if (!p->nodes[i].access || !p->nodes[i].access->shared_state) continue;
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

static void keep_edges(struct planner *p, struct edges *e)
{
    uint32_t n = p->graph->n_nodes;
    if (e->n) qsort(e->list, e->n, sizeof *e->list, compare_edges);
    p->successors_start = arena_alloc(p->arena, (n + 1) * sizeof *p->successors_start);
    p->successors = arena_alloc(p->arena, (e->n + 1) * sizeof *p->successors);
    p->n_predecessors = arena_alloc(p->arena, (n + 1) * sizeof *p->n_predecessors);
    uint32_t kept = 0, node = 0;
    for (size_t i = 0; i < e->n; i++) {
        if (i && compare_edges(&e->list[i - 1], &e->list[i]) == 0) continue;
        while (node <= e->list[i].from) p->successors_start[node++] = kept;
        p->successors[kept++] = e->list[i].to;
        p->n_predecessors[e->list[i].to]++;
    }
    while (node <= n) p->successors_start[node++] = kept;
}

bool plan_edges(struct planner *p)
{
    struct edges e = {0};
    struct live *live = arena_alloc(p->arena, (p->graph->n_buffers + 1) * sizeof *live);
    for (uint32_t i = 0; i < p->n_uses; i++) edges_of_use(p, &e, &live[p->uses[i].buffer], i);
    for (uint32_t i = 0; i < p->graph->n_nodes; i++)
        for (uint32_t k = 0; k < p->graph->nodes[i].n_deps; k++) add_edge(&e, p->graph->nodes[i].deps[k], i);
    edges_of_state(p, &e);
    keep_edges(p, &e);
    for (uint32_t i = 0; i < p->graph->n_buffers; i++) free(live[i].uses);
    free(e.list);
    return true;
}
