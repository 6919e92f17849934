/*
 * Groups are filled as early as their kernels are ready. What nobody needs before the last group may as well run there,
 * in one launch with those that need it: the finest level of a pyramid, done first on the way down, is what the last
 * step up again is added to.
 */
#include "fuser/plan/grouping/later.h"

#include <string.h>

#include "fuser/plan/grouping/legality.h"
#include "ir/base/arena.h"

enum { MOST_TRIES = 64, MOST_TOGETHER = GROUP_MOST_KERNELS, NOWHERE = UINT32_MAX };

struct mover {
    const struct grouping *g;
    struct plan_choice *c;
    struct group_builder builder;
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

static bool may_be_one(struct mover *m, uint32_t first, uint32_t n, uint32_t later, uint32_t n_later)
{
    struct joining with;
    struct refusal why;
    memcpy(m->room, &m->c->kernels[first], n * sizeof *m->room);
    memcpy(m->room + n, &m->c->kernels[later], n_later * sizeof *m->room);
    group_builder_open(m->g, &m->builder, m->room);
    for (uint32_t i = 1; i < n + n_later; i++) {
        if (!legality_joins(m->g, &m->builder, &with, &why)) return false;
        group_builder_add(m->g, &m->builder, &with);
    }
    return true;
}

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
    if (may_be_one(m, first, end - first, later, n_later)) move(m, first, end, later);
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
}
