/*
 * The best groups of few kernels: fewest launches, then least memory traffic. Sets of kernels are bits; kernels are
 * numbered by rank, so that a set in the order of its numbers is in an order that dependences allow.
 *   1. All sets that can be one launch: each is one that can, and a kernel of higher rank that joins it.
 *   2. From the empty set on, the best way to each set of kernels that may have run: a way to a smaller one, and a
 *      launch of the rest.
 */
#include <string.h>

#include "fuser/plan/forming.h"
#include "ir/base/arena.h"

typedef uint16_t set;

enum { SETS = 1 << PLAN_MAX_OPTIMUM };

struct way {
    uint32_t n_launches; /* 0: none is known, but for the empty set */
    uint64_t bytes;
    set last; /* launch */
};

struct space {
    struct planner *p;
    struct plan_estimate *estimate;
    uint32_t n;
    uint32_t kernels[PLAN_MAX_OPTIMUM]; /* by rank */
    set before[PLAN_MAX_OPTIMUM];       /* those that it depends on, in any number of steps */
    set after[PLAN_MAX_OPTIMUM];
    set apart[PLAN_MAX_OPTIMUM]; /* those with a command in between */
    bool legal[SETS];
    uint64_t bytes[SETS];
    set needs[SETS]; /* all that its kernels depend on */
    struct way ways[SETS];
};

/* ---- dependences ---- */

static uint32_t list_kernels(struct planner *p, uint32_t kernels[PLAN_MAX_OPTIMUM])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->graph->n_nodes; i++) {
        uint32_t node = p->by_rank[i];
        if (p->graph->nodes[node].kind != FUSER_NODE_KERNEL) continue;
        if (n == PLAN_MAX_OPTIMUM) return n + 1;
        kernels[n++] = node;
    }
    return n;
}

static void find_dependences(struct space *s)
{
    struct planner *p = s->p;
    uint32_t n = p->graph->n_nodes;
    set *own = arena_alloc(p->arena, (n + 1) * sizeof *own), *before = arena_alloc(p->arena, (n + 1) * sizeof *before),
        *apart = arena_alloc(p->arena, (n + 1) * sizeof *apart);
    for (uint32_t i = 0; i < s->n; i++) own[s->kernels[i]] = (set)(1u << i);
    for (uint32_t at = 0; at < n; at++) {
        uint32_t node = p->plan->order[at];
        for (uint32_t k = p->successors_start[node]; k < p->successors_start[node + 1]; k++) {
            before[p->successors[k]] |= before[node] | own[node];
            apart[p->successors[k]] |= own[node] ? apart[node] : before[node];
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

static void note(struct space *s, set members)
{
    uint32_t kernels[PLAN_MAX_OPTIMUM], n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (!(members & (1u << i))) continue;
        kernels[n++] = s->kernels[i];
        s->needs[members] |= s->before[i];
    }
    s->legal[members] = true;
    s->bytes[members] = plan_estimate(s->p, s->estimate, kernels, n);
}

/* The set and all that it grows to with kernels from `next` on. Its kernels are the first of the order. */
static void grow(struct space *s, struct forming *f, set members, uint32_t next)
{
    note(s, members);
    for (uint32_t i = next; i < s->n; i++) {
        struct forming before = *f;
        struct nd_range joined;
        struct cut why;
        uint32_t node = s->kernels[i];
        if (!is_closed(s, members, i)) continue;
        s->p->plan->order[f->group.n] = node;
        if (!forming_joins(s->p, f, node, &joined, &why)) continue;
        forming_add(s->p, f, node, &joined);
        grow(s, f, (set)(members | 1u << i), i + 1);
        forming_remove(s->p, f, node, &before);
    }
}

static void find_sets(struct space *s)
{
    struct forming f;
    forming_init(s->p, &f);
    for (uint32_t i = 0; i < s->n; i++) {
        s->p->plan->order[0] = s->kernels[i];
        forming_open(s->p, &f, 0);
        grow(s, &f, (set)(1u << i), i + 1);
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

static void take(const struct space *s, struct plan_choice *out)
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

bool plan_optimum(struct planner *p, struct plan_choice *out)
{
    struct space *s;
    uint32_t kernels[PLAN_MAX_OPTIMUM], n = list_kernels(p, kernels);
    if (n > PLAN_MAX_OPTIMUM) return false;
    s = arena_alloc(p->arena, sizeof *s);
    s->p = p;
    s->n = n;
    s->estimate = plan_estimate_new(p);
    memcpy(s->kernels, kernels, n * sizeof *kernels);
    find_dependences(s);
    find_sets(s);
    find_ways(s);
    take(s, out);
    return true;
}
