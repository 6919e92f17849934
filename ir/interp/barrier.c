/*
 * Which waiting work-items go on. All of a work-group have run until each is done or waits at an
 * operation that concerns others. Then:
 *
 * - An operation of the whole work-group goes on when all its work-items wait at the same instance of
 *   it: the same instruction, reached by the same calls, in the same rounds of all loops around it.
 * - In each sub-group only those that wait at the earliest place (in the order of the program, rounds of
 *   loops counted) go on. A barrier, group_... or block_... of the sub-group needs all of its work-items.
 *   Ballots, shuffles, elect and all_equal take the work-items that are there as the active ones: since
 *   nobody else can get there any more without passing a later place first, those are all that ever come
 *   together. After an if the two sides are so together again.
 *
 * Where nothing can go on, work-items wait for others in vain, which is a finding.
 */
#include "ir/interp/barrier.h"

#include <inttypes.h>
#include <stdio.h>

#include "ir/core/facts.h"
#include "ir/interp/collective.h"
#include "ir/interp/frame.h"
#include "ir/interp/report.h"

/* ---- the order of places ---- */

struct place {
    const struct code_inst *inst;
    const uint64_t *slots; /* of the frame, for the rounds of loops */
};

static struct place place_around(struct place p)
{
    return (struct place){p.inst->block->owner, p.slots};
}

static int sign_of(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_places(struct place a, struct place b)
{
    struct code_block *x = a.inst->block, *y = b.inst->block;
    int order = 0;
    if (x == y) {
        if (x->owner) order = compare_places(place_around(a), place_around(b));
        if (!order && x->owner && x->owner->ir->op == IR_OP_LOOP)
            order = sign_of(a.slots[x->owner->round], b.slots[x->owner->round]);
        return order ? order : sign_of((uint64_t)(a.inst - x->insts), (uint64_t)(b.inst - y->insts));
    }
    if (x->depth > y->depth) {
        order = compare_places(place_around(a), b);
        return order ? order : 1;
    }
    if (x->depth < y->depth) {
        order = compare_places(a, place_around(b));
        return order ? order : -1;
    }
    order = compare_places(place_around(a), place_around(b));
    return order ? order : x == x->owner->blocks[0] ? -1 : 1;
}

static struct place place_of(const struct item *item, uint32_t frame)
{
    const struct frame *f = &item->frames[frame];
    return (struct place){f->pc, item->slots + f->base};
}

static int compare_items(const struct item *a, const struct item *b)
{
    uint32_t n = a->n_frames < b->n_frames ? a->n_frames : b->n_frames;
    for (uint32_t i = 0; i < n; i++) {
        int order = compare_places(place_of(a, i), place_of(b, i));
        if (order) return order;
    }
    return sign_of(a->n_frames, b->n_frames);
}

static bool waits_with(const struct item *item, const struct item *first)
{
    return item->state == ITEM_WAITING && (item == first || compare_items(item, first) == 0);
}

/* ---- going on ---- */

static void let_go_on(struct machine *m, uint32_t n)
{
    struct item **party = m->group.party;
    interp_collective_exec(m, party, n);
    for (uint32_t i = 0; i < n; i++) interp_item_advance(party[i]);
}

static bool pass_work_group(struct machine *m)
{
    struct group *g = &m->group;
    struct item *first = &g->items[0];
    if (first->state != ITEM_WAITING || !ir_is_work_group_collective(interp_item_at(first)->ir)) return false;
    for (uint32_t i = 0; i < g->n_items; i++) {
        if (!waits_with(&g->items[i], first)) return false;
        g->party[i] = &g->items[i];
    }
    let_go_on(m, g->n_items);
    return true;
}

struct span {
    struct item *first, *end;
};

static struct span sub_group_items(struct machine *m, uint32_t sub_group)
{
    uint32_t from = sub_group * m->sub_group_size, to = from + m->sub_group_size;
    if (to > m->group.n_items) to = m->group.n_items;
    return (struct span){m->group.items + from, m->group.items + to};
}

static struct item *earliest_item(struct span s)
{
    struct item *found = NULL;
    for (struct item *item = s.first; item < s.end; item++) {
        if (item->state != ITEM_WAITING || ir_is_work_group_collective(interp_item_at(item)->ir)) continue;
        if (!found || compare_items(item, found) < 0) found = item;
    }
    return found;
}

static bool pass_sub_group(struct machine *m, uint32_t sub_group)
{
    struct span s = sub_group_items(m, sub_group);
    struct item *first = earliest_item(s);
    if (!first) return false;
    uint32_t n = 0;
    for (struct item *item = s.first; item < s.end; item++)
        if (waits_with(item, first)) m->group.party[n++] = item;
    if (ir_is_collective(interp_item_at(first)->ir) && n < s.end - s.first) return false;
    let_go_on(m, n);
    return true;
}

bool interp_pass_barrier(struct machine *m)
{
    if (pass_work_group(m)) return true;
    bool any = false;
    for (uint32_t i = 0; i < m->group.n_sub_groups; i++) any |= pass_sub_group(m, i);
    return any;
}

/* ---- the finding ---- */

static void describe_state(const struct item *item, const struct item *first, char *buf, size_t size)
{
    const struct ir_inst *inst = item->state == ITEM_WAITING ? interp_item_at(item)->ir : NULL;
    if (!inst)
        snprintf(buf, size, "has returned");
    else if (inst == interp_item_at(first)->ir)
        snprintf(buf, size, "waits there in another round of a loop or another call");
    else
        snprintf(buf, size, "waits at %s in line %u", ir_op_info(inst->op)->text, inst->loc.line);
}

static void report_pair_of(struct machine *m, const struct item *first, const struct item *other)
{
    const struct code_inst *at = interp_item_at(first);
    struct other_access o = {{other->global[0], other->global[1], other->global[2]}, UINT32_MAX};
    const uint64_t *a = first->global, *b = other->global;
    char does[96];
    describe_state(other, first, does, sizeof does);
    interp_report_pair(m, INTERP_BARRIER, first, at, &o,
                       "work-item (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ") waits at %s in line %u, but work-item (%" PRIu64
                       ",%" PRIu64 ",%" PRIu64 ") %s",
                       a[0], a[1], a[2], ir_op_info(at->ir->op)->text, at->ir->loc.line, b[0], b[1], b[2], does);
}

void interp_report_divergence(struct machine *m)
{
    struct item *first = m->group.items;
    while (first->state != ITEM_WAITING) first++;
    struct span s = {m->group.items, m->group.items + m->group.n_items};
    if (!ir_is_work_group_collective(interp_item_at(first)->ir)) s = sub_group_items(m, first->sub_group);
    for (struct item *item = s.first; item < s.end; item++) {
        if (waits_with(item, first)) continue;
        report_pair_of(m, first, item);
        return;
    }
}
