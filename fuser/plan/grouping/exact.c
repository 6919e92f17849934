/*
 * The best groups of few kernels: fewest launches, then least memory traffic. Sets of kernels are bits; kernels are
 * numbered by rank, so that a set in the order of its numbers is in an order that dependences allow.
 *   1. All sets that can be one launch: each is one that can, and a kernel of higher rank that joins it.
 *   2. From the empty set on, the best way to each set of kernels that may have run: a way to a smaller one, and a
 *      launch of the rest.
 */
#include "fuser/plan/grouping/exact.h"

#include <string.h>

#include "fuser/plan/grouping/estimate.h"
#include "fuser/plan/grouping/legality.h"
#include "ir/base/arena.h"

typedef uint16_t set;

enum { MAX_KERNELS = 12, SETS = 1 << MAX_KERNELS, MAX_WINDOW = 8, MAX_WINDOWS = 32 };

struct way {
    uint32_t n_launches; /* 0: none is known, but for the empty set */
    uint64_t bytes;
    set last; /* launch */
};

struct space {
    const struct grouping *g;
    const struct plan_order *order;
    struct traffic_estimate *estimate;
    uint32_t n;
    uint32_t kernels[MAX_KERNELS]; /* by rank */
    uint32_t members[MAX_KERNELS]; /* of the group that is tried, and the kernel that asks to join */
    set before[MAX_KERNELS];       /* those that it depends on, in any number of steps */
    set after[MAX_KERNELS];
    set apart[MAX_KERNELS]; /* those with a command in between */
    bool legal[SETS];
    uint64_t bytes[SETS];
    set needs[SETS]; /* all that its kernels depend on */
    struct way ways[SETS];
};

/* ---- dependences ---- */

static uint32_t list_kernels(const struct grouping *g, const struct plan_order *order, uint32_t kernels[MAX_KERNELS])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->facts->graph->n_nodes; i++) {
        uint32_t node = order->by_rank[i];
        if (!grouping_is_kernel(g, node)) continue;
        if (n == MAX_KERNELS) return n + 1;
        kernels[n++] = node;
    }
    return n;
}

static void find_dependences(struct space *s)
{
    struct arena *arena = s->g->ctx->arena;
    const struct plan_edges *e = s->g->edges;
    uint32_t n = s->g->facts->graph->n_nodes;
    set *own = arena_alloc(arena, (n + 1) * sizeof *own), *before = arena_alloc(arena, (n + 1) * sizeof *before),
        *apart = arena_alloc(arena, (n + 1) * sizeof *apart);
    for (uint32_t i = 0; i < s->n; i++) own[s->kernels[i]] = (set)(1u << i);
    for (uint32_t at = 0; at < n; at++) {
        uint32_t node = s->order->nodes[at];
        for (uint32_t k = e->successors_start[node]; k < e->successors_start[node + 1]; k++) {
            before[e->successors[k]] |= before[node] | own[node];
            apart[e->successors[k]] |= own[node] ? apart[node] : before[node];
        }
    }
    for (uint32_t i = 0; i < s->n; i++) {
        s->before[i] = before[s->kernels[i]];
        s->apart[i] = apart[s->kernels[i]];
        for (uint32_t k = 0; k < i; k++)
            if (s->before[i] & (1u << k)) s->after[k] |= (set)(1u << i);
    }
}

/* ---- sets that can be one launch ---- */

/* With kernel `next`, no path leads out of the set and back in, through a kernel or a command. */
static bool is_closed(const struct space *s, set members, uint32_t next)
{
    if (members & s->apart[next]) return false;
    for (uint32_t i = 0; i < next; i++)
        if ((members & (1u << i)) && (s->after[i] & s->before[next] & ~members)) return false;
    return true;
}

static void note_launch(struct space *s, set members)
{
    uint32_t kernels[MAX_KERNELS], n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (!(members & (1u << i))) continue;
        kernels[n++] = s->kernels[i];
        s->needs[members] |= s->before[i];
    }
    s->legal[members] = true;
    s->bytes[members] = estimate_launch(s->g, s->estimate, (struct node_run){kernels, n});
}

/* The set and all that it grows to with kernels from `next` on. Its kernels are the members. */
static void grow(struct space *s, struct group_builder *b, set members, uint32_t next)
{
    note_launch(s, members);
    for (uint32_t i = next; i < s->n; i++) {
        struct group_builder before = *b;
        struct joining with;
        struct refusal why;
        if (!is_closed(s, members, i)) continue;
        s->members[b->group.run.n] = s->kernels[i];
        if (!legality_joins(s->g, b, &with, &why)) continue;
        group_builder_add(s->g, b, &with);
        grow(s, b, (set)(members | 1u << i), i + 1);
        group_builder_remove(s->g, b, &before);
    }
}

static void find_sets(struct space *s)
{
    struct group_builder b;
    group_builder_init(s->g, &b);
    for (uint32_t i = 0; i < s->n; i++) {
        s->members[0] = s->kernels[i];
        group_builder_open(s->g, &b, s->members);
        grow(s, &b, (set)(1u << i), i + 1);
    }
}

/* ---- the best way through them ---- */

static void extend(struct space *s, set done, set launch)
{
    const struct way *from = &s->ways[done];
    struct way way = {from->n_launches + 1, from->bytes + s->bytes[launch], launch}, *to = &s->ways[done | launch];
    if (to->n_launches &&
        (to->n_launches < way.n_launches || (to->n_launches == way.n_launches && to->bytes <= way.bytes)))
        return;
    *to = way;
}

static void find_ways(struct space *s)
{
    set all = (set)((1u << s->n) - 1);
    for (uint32_t done = 0; done < all; done++) {
        set left = (set)(all & ~done);
        if (done && !s->ways[done].n_launches) continue;
        for (set launch = left; launch; launch = (set)((launch - 1) & left))
            if (s->legal[launch] && !(s->needs[launch] & left & ~launch)) extend(s, (set)done, launch);
    }
}

static const struct way *best_way(const struct space *s)
{
    return &s->ways[(1u << s->n) - 1];
}

/* Its kernels in order, and where launches begin. */
static void take_way(const struct space *s, uint32_t *kernels, bool *starts)
{
    uint32_t at = s->n;
    set done = (set)((1u << s->n) - 1);
    for (uint32_t i = 0; i < s->n; i++) starts[i] = false;
    while (done) {
        set launch = s->ways[done].last;
        for (uint32_t i = s->n; i-- > 0;)
            if (launch & (1u << i)) kernels[--at] = s->kernels[i];
        starts[at] = true;
        done &= (set)~launch;
    }
}

/* Of n kernels by rank. */
static struct space *search(const struct grouping *g, const struct plan_order *order, struct traffic_estimate *estimate,
                            const uint32_t *kernels, uint32_t n)
{
    struct space *s = arena_alloc(g->ctx->arena, sizeof *s);
    s->g = g;
    s->order = order;
    s->n = n;
    s->estimate = estimate;
    memcpy(s->kernels, kernels, n * sizeof *kernels);
    find_dependences(s);
    find_sets(s);
    find_ways(s);
    return s;
}

bool exact_groups(const struct grouping *g, const struct plan_order *order, struct plan_choice *out)
{
    uint32_t kernels[MAX_KERNELS], n = list_kernels(g, order, kernels);
    if (n > MAX_KERNELS) return false;
    const struct space *s = search(g, order, estimate_new(g), kernels, n);
    out->n_groups = best_way(s)->n_launches;
    out->bytes = best_way(s)->bytes;
    take_way(s, out->kernels, out->starts);
    return true;
}

/* ---- windows of many ---- */

/* Neighbouring groups of a choice. */
struct window {
    uint32_t first, end; /* places of kernels */
    uint32_t n_groups;
    uint64_t bytes;
};

static uint32_t end_of_group(const struct plan_choice *c, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < c->n && !c->starts[end]) end++;
    return end;
}

/* As many groups from there on as fit. */
static struct window window_at(const struct grouping *g, struct traffic_estimate *e, const struct plan_choice *c,
                               uint32_t first)
{
    struct window w = {.first = first, .end = first};
    while (w.end < c->n) {
        uint32_t end = end_of_group(c, w.end);
        if (end - first > MAX_WINDOW) break;
        w.bytes += estimate_launch(g, e, (struct node_run){&c->kernels[w.end], end - w.end});
        w.n_groups++;
        w.end = end;
    }
    return w;
}

static void sort_by_rank(const struct plan_order *order, uint32_t *kernels, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k && order->rank[kernels[k - 1]] > order->rank[kernels[k]]; k--) {
            uint32_t kernel = kernels[k];
            kernels[k] = kernels[k - 1];
            kernels[k - 1] = kernel;
        }
}

static void improve(const struct grouping *g, const struct plan_order *order, struct traffic_estimate *e,
                    const struct window *w, struct plan_choice *c)
{
    uint32_t kernels[MAX_WINDOW], n = w->end - w->first;
    memcpy(kernels, &c->kernels[w->first], n * sizeof *kernels);
    sort_by_rank(order, kernels, n);
    const struct space *s = search(g, order, e, kernels, n);
    const struct way *best = best_way(s);
    if (!best->n_launches || best->n_launches > w->n_groups) return;
    if (best->n_launches == w->n_groups && best->bytes >= w->bytes) return;
    take_way(s, &c->kernels[w->first], &c->starts[w->first]);
    c->n_groups -= w->n_groups - best->n_launches;
}

void exact_windows(const struct grouping *g, const struct plan_order *order, struct plan_choice *choice)
{
    struct traffic_estimate *e = estimate_new(g);
    for (uint32_t first = 0, n = 0; first < choice->n && n < MAX_WINDOWS; first = end_of_group(choice, first)) {
        struct window w = window_at(g, e, choice, first);
        if (w.n_groups < 2) continue;
        improve(g, order, e, &w, choice);
        n++;
    }
}
