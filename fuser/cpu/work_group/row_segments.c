/*
 * Where a row is cut, known beforehand: most comparisons in kernels with barriers are those of local ids with numbers,
 * as each step of a tree of sums has one. Each is evaluated for each work-item of the row. So nothing is left to decide
 * when the kernel runs, and there is code for each segment's work-items and no others.
 */
#include "fuser/cpu/work_group/row_segments.h"

#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/value.h"

struct row {
    const struct row_tests *tests;
    unsigned dim;
    uint64_t *outcomes, *before; /* by test, of a work-item and of the one before it */
};

static bool see_item(const struct row *r, uint32_t item)
{
    for (uint32_t i = 0; i < r->tests->n; i++) {
        r->before[i] = r->outcomes[i];
        if (!row_test_at(&r->tests->tests[i], r->dim, item, &r->outcomes[i])) return false;
    }
    return true;
}

/* Whether a test of that kind comes to something else than for the work-item before. */
static bool differs(const struct row *r, bool quotients)
{
    for (uint32_t i = 0; i < r->tests->n; i++)
        if (row_test_is_quotient(r->tests->tests[i].op) == quotients && r->outcomes[i] != r->before[i]) return true;
    return false;
}

static void begin_segment(struct emit *e, struct row_segments *s, const struct row *r, uint32_t from)
{
    struct row_segment *segment = &s->of[s->n++];
    *segment = (struct row_segment){.from = from};
    segment->decided = arena_alloc(e->arena, e->values->uniformity.n_insts * sizeof *segment->decided);
    for (uint32_t i = 0; i < r->tests->n; i++) {
        const struct row_test *t = &r->tests->tests[i];
        if (!row_test_is_quotient(t->op)) segment->decided[t->made->scratch] = r->outcomes[i] & 1 ? 1 : -1;
    }
}

static struct row_segments find(struct emit *e, const struct row_tests *tests, unsigned dim)
{
    struct row_segments s = {0}, none = {0};
    uint32_t extent = e->ids->known_extent[dim];
    struct row r = {tests, dim, arena_alloc(e->arena, tests->n * sizeof *r.outcomes),
                    arena_alloc(e->arena, tests->n * sizeof *r.before)};
    if (!extent || extent > LONGEST_KNOWN_ROW || !tests->n) return none;
    for (uint32_t item = 0; item < extent; item++) {
        if (!see_item(&r, item)) return none;
        if (!item || differs(&r, false)) {
            if (s.n == MOST_SEGMENTS) return none;
            begin_segment(e, &s, &r, item);
        } else if ((item - s.of[s.n - 1].from) % e->width && differs(&r, true)) {
            return none; /* not the same in a vector */
        }
        s.of[s.n - 1].to = item + 1;
    }
    return s;
}

struct row_segments row_segments_find(struct emit *e, const struct row_tests *tests)
{
    return find(e, tests, 0);
}

struct row_segments column_segments_find(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    struct uniformity row = e->values->uniformity;
    uniformity_find(&e->values->uniformity, e->arena, e->kernel, TOGETHER_COLUMN);
    struct row_tests tests = row_tests_find(e, first, end, TOGETHER_COLUMN);
    e->values->uniformity = row;
    uint32_t n = 0;
    for (uint32_t i = 0; i < tests.n; i++) /* borders of indices are nothing to cut at */
        if (tests.tests[i].made) tests.tests[n++] = tests.tests[i];
    tests.n = n;
    return find(e, &tests, 1);
}

static bool does_nothing(const struct ir_inst *inst, const struct row_segment *s)
{
    if (inst->op == IR_OP_BARRIER || ir_op_info(inst->op)->flags & IR_FLAG_PURE) return true;
    if (inst->op == IR_OP_LOAD) return !inst->attrs.is_volatile;
    if (inst->op != IR_OP_IF || inst->operands[0]->kind != IR_VALUE_RESULT) return false;
    int is = s->decided[inst->operands[0]->of.inst->scratch];
    return is && inst->blocks[is < 0]->first->op == IR_OP_YIELD;
}

bool row_segment_is_needed(const struct ir_inst *first, const struct ir_inst *end, const struct row_segments *s,
                           unsigned i, bool ran)
{
    const struct ir_inst *inst = first;
    while (inst && inst != end && does_nothing(inst, &s->of[i])) inst = inst->next;
    return (inst && inst != end) || (!ran && i + 1 == s->n);
}
