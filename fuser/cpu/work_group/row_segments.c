/*
 * Where a row is cut, known beforehand: most comparisons in kernels with barriers are those of local ids with numbers,
 * as each step of a tree of sums has one. Each is evaluated for each work-item of the row. So nothing is left to decide
 * when the kernel runs, and there is code for each segment's work-items and no others.
 */
#include "fuser/cpu/work_group/row_segments.h"

#include "fuser/cpu/emit/value.h"

struct row {
    const struct row_tests *tests;
    uint64_t *outcomes, *before; /* by test, of a work-item and of the one before it */
};

static bool see_item(const struct row *r, uint32_t item)
{
    for (uint32_t i = 0; i < r->tests->n; i++) {
        r->before[i] = r->outcomes[i];
        if (!row_test_at(&r->tests->tests[i], item, &r->outcomes[i])) return false;
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

struct row_segments row_segments_find(struct emit *e, const struct row_tests *tests, uint32_t extent)
{
    struct row_segments s = {0}, none = {0};
    struct row r = {tests, arena_alloc(e->arena, tests->n * sizeof *r.outcomes),
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
