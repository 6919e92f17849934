/* The choice of groups, where not all kernels can be one: those of the linear order by ranges, depths and names, unless
   others are fewer, or as many that move less memory. The choice is the same however the graph was recorded. */
#include "fuser/plan/grouping/choose.h"

#include "fuser/plan/grouping/estimate.h"
#include "fuser/plan/grouping/exact.h"
#include "fuser/plan/grouping/greedy.h"
#include "fuser/plan/grouping/later.h"
#include "fuser/plan/order/linearize.h"
#include "ir/base/arena.h"

static struct plan_choice new_choice(const struct grouping *g, uint32_t n)
{
    return (struct plan_choice){.n = n,
                                .kernels = arena_alloc(g->ctx->arena, (n + 1) * sizeof(uint32_t)),
                                .starts = arena_alloc(g->ctx->arena, n + 1)};
}

static void estimate(const struct grouping *g, struct plan_choice *c)
{
    struct traffic_estimate *e = estimate_new(g);
    for (uint32_t first = 0, end; first < c->n; first = end) {
        for (end = first + 1; end < c->n && !c->starts[end];) end++;
        c->bytes += estimate_launch(g, e, (struct node_run){&c->kernels[first], end - first});
    }
}

static uint32_t count_kernels(const struct grouping *g)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->facts->graph->n_nodes; i++) n += grouping_is_kernel(g, i);
    return n;
}

static void take_formed(const struct grouping *g, const struct plan_groups *groups, struct plan_choice *c)
{
    c->n = 0;
    c->n_groups = groups->n;
    for (uint32_t k = 0; k < groups->n; k++) {
        struct node_run run = groups->groups[k].run;
        c->starts[c->n] = true;
        for (uint32_t i = 0; i < run.n; i++) c->kernels[c->n++] = run.nodes[i];
    }
    estimate(g, c);
}

/* The best of all, or a good one. */
static void find_other(const struct grouping *g, const struct plan_order *order, struct plan_choice *c)
{
    g->ctx->quiet = true;
    if (!exact_groups(g, order, c)) {
        greedy_groups(g, order, c);
        later_groups(g, c);
        exact_windows(g, order, c);
        estimate(g, c);
    }
    g->ctx->quiet = false;
}

static bool is_better(const struct plan_choice *a, const struct plan_choice *b)
{
    return a->n_groups < b->n_groups || (a->n_groups == b->n_groups && a->bytes < b->bytes);
}

void choose_groups(const struct grouping *g, const struct plan_groups *formed, struct plan_order *order,
                   struct required_starts *out)
{
    uint32_t n = count_kernels(g);
    struct plan_choice first = new_choice(g, n), other = new_choice(g, n);
    *out = (struct required_starts){0};
    take_formed(g, formed, &first);
    find_other(g, order, &other);
    if (!is_better(&other, &first)) return;
    linearize(g->ctx, g->facts, g->edges, &other, order);
    out->starts = arena_alloc(g->ctx->arena, g->facts->graph->n_nodes + 1);
    for (uint32_t i = 0; i < n; i++) out->starts[other.kernels[i]] = other.starts[i];
    out->bytes = other.bytes;
}
