/*
 * Groups are filled as early as their kernels are ready. What nobody needs before the last group may as well run there,
 * in one launch with those that need it: the finest level of a pyramid, done first on the way down, is what the last
 * step up again is added to. And a kernel that clears what only a later group adds to is better there, where the sum
 * then needs no memory.
 */
#include "fuser/plan/grouping/later.h"

#include <string.h>

#include "fuser/plan/grouping/estimate.h"
#include "fuser/plan/grouping/legality.h"
#include "ir/base/arena.h"

enum { MOST_TRIES = 64, MOST_TOGETHER = GROUP_MOST_KERNELS, NOWHERE = UINT32_MAX };

struct mover {
    const struct grouping *g;
    struct plan_choice *c;
    struct group_builder builder;
    struct traffic_estimate *traffic;
    uint32_t *place; /* of a kernel in the choice; NOWHERE: a command */
    uint32_t *room;
};

static void note_places(struct mover *m)
{
    for (uint32_t i = 0; i < m->c->n; i++) m->place[m->c->kernels[i]] = i;
}

static uint32_t end_of(const struct plan_choice *c, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < c->n && !c->starts[end]) end++;
    return end;
}

static uint32_t start_of(const struct plan_choice *c, uint32_t place)
{
    while (!c->starts[place]) place--;
    return place;
}

/* Where the first kernel behind the group is that needs it; NOWHERE: none does, or a command. */
static uint32_t first_user(const struct mover *m, uint32_t first, uint32_t end)
{
    uint32_t found = NOWHERE;
    const struct plan_edges *e = m->g->edges;
    for (uint32_t i = first; i < end; i++)
        for (uint32_t k = e->successors_start[m->c->kernels[i]]; k < e->successors_start[m->c->kernels[i] + 1]; k++) {
            uint32_t place = m->place[e->successors[k]];
            if (place == NOWHERE) return NOWHERE;
            if (place >= end && place < found) found = place;
        }
    return found;
}

/* So many kernels in the room. */
static bool are_one(struct mover *m, uint32_t n)
{
    struct joining with;
    struct refusal why;
    group_builder_open(m->g, &m->builder, m->room);
    for (uint32_t i = 1; i < n; i++) {
        if (!legality_joins(m->g, &m->builder, &with, &why)) return false;
        group_builder_add(m->g, &m->builder, &with);
    }
    return true;
}

/* Puts two runs of the choice into the room. */
static uint32_t put_together(struct mover *m, uint32_t first, uint32_t n, uint32_t later, uint32_t n_later)
{
    memcpy(m->room, &m->c->kernels[first], n * sizeof *m->room);
    memcpy(m->room + n, &m->c->kernels[later], n_later * sizeof *m->room);
    return n + n_later;
}

/* ---- groups ---- */

/* What is between goes to where the group was, and the group to the front of the later one. */
static void move(struct mover *m, uint32_t first, uint32_t end, uint32_t later)
{
    struct plan_choice *c = m->c;
    uint32_t n = end - first, between = later - end;
    memcpy(m->room, &c->kernels[first], n * sizeof *m->room);
    memmove(&c->kernels[first], &c->kernels[end], between * sizeof *c->kernels);
    memmove(&c->starts[first], &c->starts[end], between * sizeof *c->starts);
    memcpy(&c->kernels[first + between], m->room, n * sizeof *m->room);
    for (uint32_t i = 0; i <= n; i++) c->starts[first + between + i] = i == 0;
    c->n_groups--;
    note_places(m);
}

static void try_group(struct mover *m, uint32_t first)
{
    uint32_t end = end_of(m->c, first), user = first_user(m, first, end);
    if (user == NOWHERE) return;
    uint32_t later = start_of(m->c, user), n_later = end_of(m->c, later) - later;
    if (end - first + n_later > MOST_TOGETHER) return;
    if (are_one(m, put_together(m, first, end - first, later, n_later))) move(m, first, end, later);
}

/* ---- kernels ---- */

/* A group that a kernel is taken out of, and one that it may be the first of. */
struct transfer {
    uint32_t at, first, end, later, n_later;
};

/* Nobody but the kernel and the later group touches what it writes, which may do without memory then. */
static bool writes_for(const struct mover *m, const struct transfer *t)
{
    const struct plan_facts *f = m->g->facts;
    uint32_t kernel = m->c->kernels[t->at];
    const struct plan_node *n = &f->nodes[kernel];
    bool writes = false;
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) {
        uint32_t buffer = f->uses[i].buffer;
        if (!f->uses[i].writes) continue;
        writes = true;
        for (uint32_t k = f->buffer_uses_start[buffer]; k < f->buffer_uses_start[buffer + 1]; k++) {
            const struct plan_use *use = &f->uses[f->buffer_uses[k]];
            uint32_t place = m->place[use->node];
            bool is_there = place >= t->later && place < t->later + t->n_later;
            if (!use->props.internal_memory || (use->node != kernel && !is_there)) return false;
        }
    }
    return writes;
}

static uint64_t bytes_of(struct mover *m, const uint32_t *kernels, uint32_t n)
{
    return estimate_launch(m->g, m->traffic, (struct node_run){kernels, n});
}

/* Both groups may be as they come to be, and move less. */
static bool is_better_there(struct mover *m, const struct transfer *t)
{
    const uint32_t *kernels = m->c->kernels;
    uint64_t before = bytes_of(m, &kernels[t->first], t->end - t->first) + bytes_of(m, &kernels[t->later], t->n_later);
    uint32_t n = put_together(m, t->first, t->at - t->first, t->at + 1, t->end - t->at - 1);
    uint64_t after = bytes_of(m, m->room, n);
    if (!are_one(m, n)) return false;
    n = put_together(m, t->at, 1, t->later, t->n_later);
    after += bytes_of(m, m->room, n);
    return after < before && are_one(m, n);
}

static void transfer(struct mover *m, const struct transfer *t)
{
    struct plan_choice *c = m->c;
    uint32_t kernel = c->kernels[t->at], between = t->later - t->at - 1;
    memmove(&c->kernels[t->at], &c->kernels[t->at + 1], between * sizeof *c->kernels);
    memmove(&c->starts[t->at], &c->starts[t->at + 1], between * sizeof *c->starts);
    c->starts[t->first] = true;
    c->kernels[t->later - 1] = kernel;
    c->starts[t->later - 1] = true;
    c->starts[t->later] = false;
    note_places(m);
}

/* Tells whether it was worth a try. */
static bool try_kernel(struct mover *m, uint32_t at)
{
    struct transfer t = {.at = at, .first = start_of(m->c, at)};
    uint32_t user = first_user(m, at, at + 1);
    t.end = end_of(m->c, t.first);
    if (user == NOWHERE || user < t.end || t.end - t.first == 1) return false;
    t.later = start_of(m->c, user);
    t.n_later = end_of(m->c, t.later) - t.later;
    if (t.n_later == MOST_TOGETHER || !writes_for(m, &t)) return false;
    if (is_better_there(m, &t)) transfer(m, &t);
    return true;
}

void later_groups(const struct grouping *g, struct plan_choice *choice)
{
    struct arena *arena = g->ctx->arena;
    struct mover m = {.g = g, .c = choice};
    uint32_t n_nodes = g->facts->graph->n_nodes;
    m.place = arena_alloc(arena, (n_nodes + 1) * sizeof *m.place);
    m.room = arena_alloc(arena, (MOST_TOGETHER + 1) * sizeof *m.room);
    for (uint32_t i = 0; i < n_nodes; i++) m.place[i] = NOWHERE;
    note_places(&m);
    group_builder_init(g, &m.builder);
    uint32_t at = choice->n;
    for (uint32_t tries = 0; tries < MOST_TRIES && at > 0; tries++) {
        at = start_of(choice, at - 1);
        try_group(&m, at);
    }
    m.traffic = estimate_new(g);
    uint32_t tries = 0;
    for (at = choice->n; at-- > 0 && tries < MOST_TRIES;) tries += try_kernel(&m, at);
}
