/*
 * Data races: two work-items touch a byte, one of them writes, not both are atomic (in a scope that has
 * both), and no barrier lies between. Each byte remembers its last writer and some of the readers since: the first one,
 * which finds the races between work-groups (groups run one after the other), and the last two that differ, which find
 * those within a group. Of the readers before a sub-group barrier one may so be forgotten.
 *
 * A barrier orders what the work-items of its scope do in the spaces that it fences. Fences and the
 * orders of atomics are not taken into account: who passes data by flags is reported.
 */
#include "ir/interp/race.h"

#include <inttypes.h>
#include <string.h>

#include "ir/interp/ids.h"
#include "ir/interp/memory.h"
#include "ir/interp/report.h"

static unsigned fence_index(uint8_t fence)
{
    return fence == IR_FENCE_LOCAL ? 0 : fence == IR_FENCE_GLOBAL ? 1 : 2;
}

/* Work-item of the present group with that number: its sub-group. */
static uint32_t sub_group_of(const struct machine *m, uint32_t number)
{
    uint64_t local = number % m->group_volume, linear = 0, stride = 1;
    for (int d = 0; d < 3; d++) {
        linear += local % m->range.local[d] * stride;
        stride *= m->group.size[d];
        local /= m->range.local[d];
    }
    return (uint32_t)(linear / m->sub_group_size);
}

static bool waits_for_all(const struct machine *m)
{
    uint64_t n = (uint64_t)m->n_groups[0] * m->n_groups[1] * m->n_groups[2];
    return m->options.last_group_waits && m->group.index + 1 == n;
}

static bool is_ordered(const struct machine *m, const struct item *item, const struct touch *t, unsigned fence)
{
    uint32_t number = t->item - 1;
    if (number == item->number) return true;
    if (number / m->group_volume != m->group.index) return waits_for_all(m);
    if (t->time <= m->group.barrier_time[fence]) return true;
    return sub_group_of(m, number) == item->sub_group && t->time <= m->group.sub_barrier_time[item->sub_group][fence];
}

struct race {
    const struct allocation *memory;
    uint64_t offset;
    const struct access *access;
};

static void report_race(struct machine *m, struct item *item, const struct code_inst *at, const struct race *race,
                        const struct touch *t, bool other_writes)
{
    const struct code_inst *other_at = m->code.insts[t->inst / 2];
    struct other_access other = {.inst = t->inst / 2};
    interp_item_of_number(m, t->item - 1, other.item);
    bool same = race->access->value && other_writes &&
                memcmp(race->memory->data + race->offset, race->access->value, race->access->size) == 0;
    char what[160];
    const uint64_t *a = item->global, *b = other.item;
    interp_report_pair(m, INTERP_RACE, item, at, &other,
                       "%s by (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ") races with the %s in line %u by (%" PRIu64
                       ",%" PRIu64 ",%" PRIu64 ") at offset %" PRIu64 " of %s%s",
                       race->access->flags & ACCESS_WRITE ? "store" : "load", a[0], a[1], a[2],
                       other_writes ? "store" : "load", other_at->ir->loc.line, b[0], b[1], b[2], race->offset,
                       interp_memory_describe(race->memory, what, sizeof what),
                       same ? "; equal values, still a race" : "");
}

/* Atomics exclude each other only within the scope that both name. */
static bool both_atomic(const struct machine *m, const struct item *item, const struct code_inst *at,
                        const struct race *race, const struct touch *t)
{
    if (!(t->inst & 1) || !(race->access->flags & ACCESS_ATOMIC)) return false;
    enum ir_scope needed = IR_SCOPE_DEVICE;
    if ((t->item - 1) / m->group_volume == m->group.index)
        needed = sub_group_of(m, t->item - 1) == item->sub_group ? IR_SCOPE_SUB_GROUP : IR_SCOPE_WORK_GROUP;
    return at->ir->attrs.scope >= needed && m->code.insts[t->inst / 2]->ir->attrs.scope >= needed;
}

/* True when there was a race to report. */
static bool check_pair(struct machine *m, struct item *item, const struct code_inst *at, const struct race *race,
                       const struct touch *t, bool other_writes)
{
    if (t->item == 0) return false;
    if (is_ordered(m, item, t, fence_index(race->memory->fence)) || both_atomic(m, item, at, race, t)) return false;
    report_race(m, item, at, race, t, other_writes);
    return true;
}

static void note_read(struct race_cell *cell, struct touch now)
{
    bool first_is_atomic = cell->first_reader.inst & 1;
    if (cell->first_reader.item == 0 || (first_is_atomic && !(now.inst & 1))) cell->first_reader = now;
    if (cell->reader.item != now.item) cell->other_reader = cell->reader;
    cell->reader = now;
}

void interp_race_note(struct machine *m, struct item *item, const struct code_inst *at, struct allocation *memory,
                      uint64_t offset, const struct access *a)
{
    struct race race = {memory, offset, a};
    struct touch now = {item->number + 1, at->id * 2 + !!(a->flags & ACCESS_ATOMIC), m->time};
    bool found = false;
    for (uint64_t i = 0; i < a->size; i++) {
        struct race_cell *cell = &memory->cells[offset + i];
        if (!found) found = check_pair(m, item, at, &race, &cell->writer, true);
        if (!(a->flags & ACCESS_WRITE)) {
            note_read(cell, now);
            continue;
        }
        if (!found)
            found = check_pair(m, item, at, &race, &cell->first_reader, false) ||
                    check_pair(m, item, at, &race, &cell->reader, false) ||
                    check_pair(m, item, at, &race, &cell->other_reader, false);
        *cell = (struct race_cell){.writer = now};
    }
}
