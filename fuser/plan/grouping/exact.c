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

enum { MAX_KERNELS = 12, SETS = 1 << MAX_KERNELS };

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

static void take_way(const struct space *s, struct plan_choice *out)
{
    uint32_t at = s->n;
    set done = (set)((1u << s->n) - 1);
    out->n_groups = s->ways[done].n_launches;
    out->bytes = s->ways[done].bytes;
    while (done) {
        set launch = s->ways[done].last;
        for (uint32_t i = s->n; i-- > 0;)
            if (launch & (1u << i)) out->kernels[--at] = s->kernels[i];
        out->starts[at] = true;
        done &= (set)~launch;
    }
}

bool exact_groups(const struct grouping *g, const struct plan_order *order, struct plan_choice *out)
{
    struct space *s;
    uint32_t kernels[MAX_KERNELS], n = list_kernels(g, order, kernels);
    if (n > MAX_KERNELS) return false;
    s = arena_alloc(g->ctx->arena, sizeof *s);
    s->g = g;
    s->order = order;
    s->n = n;
    s->estimate = estimate_new(g);
    memcpy(s->kernels, kernels, n * sizeof *kernels);
    find_dependences(s);
    find_sets(s);
    find_ways(s);
    take_way(s, out);
    return true;
}
