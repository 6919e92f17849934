/* The choice of groups, where not all kernels can be one: those of the linear order by ranges, depths and names, unless
   others are fewer, or as many that move less memory. The choice is the same however the graph was recorded. */
#include <string.h>

#include "fuser/plan/planner.h"
#include "ir/base/arena.h"

static struct plan_choice new_choice(struct planner *p, uint32_t n)
{
    return (struct plan_choice){
        .n = n, .kernels = arena_alloc(p->arena, (n + 1) * sizeof(uint32_t)), .starts = arena_alloc(p->arena, n + 1)};
}

static void estimate(struct planner *p, struct plan_choice *c)
{
    struct plan_estimate *e = plan_estimate_new(p);
    for (uint32_t first = 0, end; first < c->n; first = end) {
        for (end = first + 1; end < c->n && !c->starts[end];) end++;
        c->bytes += plan_estimate(p, e, &c->kernels[first], end - first);
    }
}

static uint32_t count_kernels(const struct planner *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->graph->n_nodes; i++) n += p->graph->nodes[i].kind == FUSER_NODE_KERNEL;
    return n;
}

static void take_formed(struct planner *p, struct plan_choice *c)
{
    c->n = 0;
    c->n_groups = p->n_groups;
    for (uint32_t g = 0; g < p->n_groups; g++) {
        c->starts[c->n] = true;
        for (uint32_t i = 0; i < p->groups[g].n; i++) c->kernels[c->n++] = p->plan->order[p->groups[g].first + i];
    }
    estimate(p, c);
}

/* The best of all: true; or a good one. */
static bool find_other(struct planner *p, struct plan_choice *c)
{
    uint32_t size = p->graph->n_nodes * (uint32_t)sizeof *p->plan->order;
    uint32_t *order = arena_alloc(p->arena, size + sizeof *order);
    memcpy(order, p->plan->order, size); /* groups are tried in the first places of the order */
    p->quiet = true;
    bool best = plan_optimum(p, c);
    if (!best) {
        plan_sweep(p, c);
        estimate(p, c);
    }
    p->quiet = false;
    memcpy(p->plan->order, order, size);
    return best;
}

static bool is_better(const struct plan_choice *a, const struct plan_choice *b)
{
    return a->n_groups < b->n_groups || (a->n_groups == b->n_groups && a->bytes < b->bytes);
}

void plan_choose(struct planner *p)
{
    uint32_t n = count_kernels(p);
    struct plan_choice formed = new_choice(p, n), other = new_choice(p, n);
    take_formed(p, &formed);
    bool best = find_other(p, &other);
    if (!is_better(&other, &formed)) return;
    plan_linearize(p, &other);
    if (!best) return;
    p->starts = arena_alloc(p->arena, p->graph->n_nodes + 1);
    for (uint32_t i = 0; i < n; i++) p->starts[other.kernels[i]] = other.starts[i];
    p->chosen_bytes = other.bytes;
}
