/* The loops over the work-items of a work-group, or of a row of work-groups: as many at once as there are lanes. */
#include "fuser/cpu/work_group/work_item_loop.h"

#include "fuser/cpu/emit/control.h"
#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/emit/private_memory.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/counted_loop.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/lanes.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/tile.h"
#include "fuser/cpu/target/isa.h"
#include "fuser/cpu/work_group/lanes_below.h"
#include "fuser/cpu/work_group/one_by_one.h"
#include "fuser/cpu/work_group/row_ends.h"
#include "fuser/cpu/work_group/row_guards.h"
#include "fuser/cpu/work_group/row_outcomes.h"
#include "fuser/cpu/work_group/row_places.h"
#include "fuser/cpu/work_group/row_segments.h"
#include "fuser/cpu/work_group/row_steps.h"
#include "fuser/cpu/work_group/row_tests.h"
#include "fuser/cpu/work_group/strides.h"
#include "fuser/cpu/work_group/tiles.h"

/* What each work-item runs. */
struct run {
    struct emit *e;
    const struct ir_inst *first, *end;
    struct row_tests tests;
    struct row_segments segments, columns;
    struct row_steps steps;
    struct rows_before before;
};

static void run_body(const struct run *r, struct mask exec)
{
    struct emit *e = r->e;
    gcc_jit_block *leave = jit_block(e);
    emit_reset(e);
    e->exec = exec;
    e->control->leave = leave;
    private_memory_begin(e);
    emit_insts(e, r->first, r->end);
    if (e->block) jit_jump(e, leave);
    jit_begin(e, leave);
}

static void run_whole_vector(const struct run *r)
{
    r->e->memory->streams = true;
    run_body(r, (struct mask){NULL});
    r->e->memory->streams = false;
}

static bool has_places(const struct emit *e)
{
    return e->width > 1 && !e->regions;
}

/* The work-items of a row from one up to `end`, which fill whole vectors. */
static void run_whole_vectors(const struct run *r, lval item, rval end)
{
    struct emit *e = r->e;
    const struct known known = e->control->known;
    if (has_places(e)) {
        struct row_places row = row_places_make(e, r->first, r->end, &r->before);
        e->memory->places = row.places;
        e->control->known.scalars = row.scalars;
        if (e->control->skip) e->control->known.decided = row_guards_ask(e, r->first, row.scalars, e->control->skip);
        if (r->tests.n) row_ends_fetch(e, &row, r->first, r->end, jit_read(item), end);
    }
    struct below left = below_begin(e, item, end);
    run_whole_vector(r);
    jit_set(e, item, jit_add(e, jit_read(item), jit_u64(e, e->width)));
    below_end(e, &left);
    e->memory->places = NULL;
    e->control->known = known;
}

/* As many of the work-items up to `extent` as a vector has lanes, under masks. */
static void run_under_mask(const struct run *r, lval item, rval extent)
{
    struct emit *e = r->e;
    rval left = jit_sub(e, extent, jit_read(item));
    run_body(r, lanes_below(e, jit_min(e, left, jit_u64(e, e->width))));
    jit_set(e, item, jit_add(e, jit_read(item), jit_u64(e, e->width)));
}

/* The work-items from `item` up to `end`, for whom each of the tests comes to the same. */
static void run_alike(const struct run *r, lval item, rval end, const struct uniformity *uniformity)
{
    struct emit *e = r->e;
    gcc_jit_block *skip = jit_block(e), *done = jit_block(e);
    struct uniformity rows = e->values->uniformity;
    e->values->uniformity = *uniformity;
    e->control->known.scalars = r->tests.known;
    e->control->skip = row_guard(r->first, r->end) && !e->sub_groups ? skip : NULL;
    run_whole_vectors(r, item, end);
    e->control->skip = NULL;
    e->control->known.scalars = NULL;
    e->values->uniformity = rows;
    jit_jump(e, done);
    jit_begin(e, skip);
    jit_set(e, item, end);
    jit_jump(e, done);
    jit_begin(e, done);
}

/* The whole vectors of those from `item` on: `alike` beside that one. */
static void run_alike_vectors(const struct run *r, lval item, rval alike, const struct uniformity *uniformity)
{
    struct emit *e = r->e;
    rval whole = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_add(e, alike, jit_u64(e, 1)),
                            jit_u64(e, 0 - (uint64_t)e->width));
    e->control->known.assumed = r->tests.assumed;
    run_alike(r, item, jit_read(jit_keep(e, jit_add(e, jit_read(item), whole))), uniformity);
    e->control->known.assumed = NULL;
}

/* All of them, one by one. */
static void run_alike_items(const struct run *r, lval item, rval alike)
{
    struct emit *e = r->e;
    unsigned width = e->width;
    struct uniformity single;
    uniformity_find(&single, e->arena, e->kernel, TOGETHER_ONE);
    rval n = jit_add(e, alike, jit_u64(e, 1));
    rval end = jit_read(jit_keep(e, jit_add(e, jit_read(item), n)));
    e->width = 1;
    run_alike(r, item, end, &single);
    e->width = width;
}

/* The same as vectors, where they fill some and are near each other. */
static void run_alike_by_stride(const struct run *r, lval item, rval alike)
{
    struct emit *e = r->e;
    struct strides s = strides_find(e, r->first, r->end, &r->tests);
    if (!s.n) {
        run_alike_items(r, item, alike);
        return;
    }
    gcc_jit_block *near = jit_block(e), *far = jit_block(e), *done = jit_block(e);
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_GE, alike, jit_u64(e, e->width - 1)), near, far);
    jit_begin(e, near);
    for (unsigned k = 0; k < s.n; k++) {
        gcc_jit_block *here = jit_block(e), *next = k + 1 < s.n ? jit_block(e) : far;
        struct lanes factor = *emit_value(e, s.factor);
        rval is = jit_int(e, factor.kind, s.is[k]);
        jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, factor.scalar, is), here, next);
        jit_begin(e, here);
        e->memory->products = s.assumed[k];
        run_alike_vectors(r, item, alike, &s.uniformity[k]);
        e->memory->products = NULL;
        jit_jump(e, done);
        jit_begin(e, next);
    }
    run_alike_items(r, item, alike);
    jit_jump(e, done);
    jit_begin(e, done);
}

/* Whether it is known that all rows do. */
static bool fills_vectors(const struct emit *e)
{
    return e->ids->known_extent[0] && e->ids->known_extent[0] % e->width == 0;
}

/* A row without tests: whole vectors, then the rest. */
static void run_whole_row(const struct run *r, lval item, rval extent)
{
    struct emit *e = r->e;
    if (fills_vectors(e)) {
        run_whole_vectors(r, item, extent);
        return;
    }
    rval whole = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, extent, jit_u64(e, 0 - (uint64_t)e->width));
    gcc_jit_block *rest = jit_block(e), *done = jit_block(e);
    run_whole_vectors(r, item, jit_read(jit_keep(e, whole)));
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_LT, jit_read(item), extent), rest, done);
    jit_begin(e, rest);
    run_under_mask(r, item, extent);
    jit_jump(e, done);
    jit_begin(e, done);
}

/* All of a row under masks, also the vectors that are whole. */
static void run_masked_row(const struct run *r, lval item, rval extent)
{
    struct emit *e = r->e;
    struct below left = below_begin(e, item, extent);
    emit_reset(e);
    run_under_mask(r, item, extent);
    below_end(e, &left);
}

/*
 * A row is cut where a test comes to something else. There, and at its end, vectors run under masks; all others do not,
 * and what depends on the tests alone is jumps in them. So the code is there twice, but where work-items run one by
 * one.
 */
static void run_row_of_vectors(const struct run *r, lval item, rval extent)
{
    struct emit *e = r->e;
    const struct row_tests *tests = &r->tests;
    bool one_by_one = runs_one_by_one(e, r->first, r->end, tests->n ? &tests->uniformity : &e->values->uniformity);
    if (e->once && !one_by_one && !fills_vectors(e)) {
        run_masked_row(r, item, extent);
        return;
    }
    if (!tests->n && !one_by_one) {
        run_whole_row(r, item, extent);
        return;
    }
    gcc_jit_block *alike = jit_block(e);
    bool mixes = !one_by_one && !(fills_vectors(e) && row_tests_spare_vectors(e, tests));
    gcc_jit_block *mixed = mixes ? jit_block(e) : NULL, *look = jit_block(e);
    rval never_alike = mixes ? row_outcomes_never_last(e, tests) : NULL;
    if (never_alike) never_alike = jit_read(jit_keep(e, never_alike));
    struct below left = below_begin(e, item, extent);
    emit_reset(e);
    if (never_alike)
        jit_branch(e, never_alike, mixed, look);
    else
        jit_jump(e, look);
    jit_begin(e, look);
    rval others = jit_sub(e, jit_sub(e, extent, jit_read(item)), jit_u64(e, 1));
    others = jit_read(jit_keep(e, row_outcomes(e, tests, jit_read(jit_keep(e, others)))));
    if (!mixes) {
        jit_jump(e, alike);
    } else {
        jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_GE, others, jit_u64(e, e->width - 1)), alike, mixed);
        jit_begin(e, mixed);
        run_under_mask(r, item, extent);
        jit_jump(e, left.head);
    }
    jit_begin(e, alike);
    if (one_by_one)
        run_alike_by_stride(r, item, others);
    else
        run_alike_vectors(r, item, others, &r->tests.uniformity);
    below_end(e, &left);
}

/* ---- segments that are known ---- */

/* Those from a work-item on that are so far apart, one by one. */
static void run_items(const struct run *r, uint32_t from, uint32_t to, uint32_t step)
{
    struct emit *e = r->e;
    unsigned width = e->width;
    struct uniformity single, rows = e->values->uniformity;
    uniformity_find(&single, e->arena, e->kernel, TOGETHER_ONE);
    e->values->uniformity = single;
    e->width = 1;
    struct counted item = {.v = NULL};
    if (to - from > step) item = counted_begin(e, jit_u64(e, from), jit_u64(e, to), jit_u64(e, step));
    e->ids->item[0] = item.v ? jit_read(item.v) : jit_u64(e, from);
    run_whole_vector(r);
    counted_end(e, &item);
    e->width = width;
    e->values->uniformity = rows;
}

/* As whole vectors. */
static void run_vectors(const struct run *r, uint32_t from, uint32_t to)
{
    struct emit *e = r->e;
    struct counted item = {.v = NULL};
    if (to - from > e->width) item = counted_begin(e, jit_u64(e, from), jit_u64(e, to), jit_u64(e, e->width));
    e->ids->item[0] = item.v ? jit_read(item.v) : jit_u64(e, from);
    run_whole_vector(r);
    counted_end(e, &item);
}

/* As a vector that has no more lanes: without masks, so that what the next step loads of it need not wait for it. */
static void run_short_vector(const struct run *r, uint32_t from, uint32_t to)
{
    struct emit *e = r->e;
    unsigned width = e->width;
    const struct isa *isa = e->isa;
    e->width = to - from;
    e->isa = isa_of_sub_group(isa->id, e->width);
    e->ids->item[0] = jit_u64(e, from);
    run_whole_vector(r);
    e->width = width;
    e->isa = isa;
}

/* Fewer than a vector. What is stored under a mask the next load waits for until it is in the cache, which is longer
   than a step of a tree takes: so one or two never have one. */
static void run_few(const struct run *r, uint32_t from, uint32_t to)
{
    enum { FEWEST_LANES = 4, MOST_OF_BITS = 2, MOST_WITHOUT_MASKS = 4 }; /* where it is many instructions */
    struct emit *e = r->e;
    uint32_t n = to - from;
    if (n >= FEWEST_LANES && !(n & (n - 1)) && !e->sub_groups) {
        run_short_vector(r, from, to);
        return;
    }
    unsigned most = e->isa->bit_masks ? MOST_OF_BITS : MOST_WITHOUT_MASKS;
    if (n <= most && can_run_one_by_one(e, r->first, r->end, &r->tests.uniformity)) {
        run_items(r, from, to, 1);
        return;
    }
    e->ids->item[0] = jit_u64(e, from);
    run_body(r, lanes_below(e, jit_u64(e, n)));
}

static void run_segments(const struct run *r)
{
    struct emit *e = r->e;
    struct uniformity rows = e->values->uniformity;
    bool one_by_one = runs_one_by_one(e, r->first, r->end, &r->tests.uniformity), ran = false;
    e->values->uniformity = r->tests.uniformity;
    e->control->known.assumed = r->tests.assumed;
    for (unsigned i = 0; i < r->segments.n; i++) {
        const struct row_segment *s = &r->segments.of[i];
        uint32_t whole = s->from + (s->to - s->from) / e->width * e->width;
        if (!row_segment_is_needed(r->first, r->end, &r->segments, i, ran)) continue;
        ran = true;
        e->control->known.decided = s->decided;
        if (one_by_one) {
            run_items(r, s->from, s->to, 1);
            continue;
        }
        if (whole > s->from) run_vectors(r, s->from, whole);
        if (whole < s->to) run_few(r, whole, s->to);
    }
    e->control->known.decided = NULL;
    e->control->known.assumed = NULL;
    e->values->uniformity = rows;
}

/* The part of a row that is between two work-items. */
static void run_part_of_row(const struct run *r, rval from, rval to)
{
    struct emit *e = r->e;
    lval item = jit_keep(e, from);
    e->ids->item[0] = jit_read(item);
    if (e->ids->known_extent[0] == e->width)
        run_whole_vector(r);
    else if (e->width == 1)
        run_whole_vectors(r, item, to);
    else
        run_row_of_vectors(r, item, to);
}

static void run_steps(const struct run *r)
{
    struct emit *e = r->e;
    e->control->known.decided = r->steps.decided;
    run_items(r, r->steps.from, r->steps.to, r->steps.step);
    e->control->known.decided = NULL;
}

static void run_row(const struct run *r)
{
    if (r->segments.n)
        run_segments(r);
    else if (r->steps.step)
        run_steps(r);
    else
        run_part_of_row(r, jit_u64(r->e, 0), r->e->ids->extent[0]);
}

/* The rows of each segment of a column, in which nothing is left to decide. */
static void run_column_segments(const struct run *r)
{
    struct emit *e = r->e;
    bool ran = false;
    for (unsigned i = 0; i < r->columns.n; i++) {
        const struct row_segment *s = &r->columns.of[i];
        if (!row_segment_is_needed(r->first, r->end, &r->columns, i, ran)) continue;
        ran = true;
        struct counted y = {.v = NULL};
        if (s->to - s->from > 1) y = counted_begin(e, jit_u64(e, s->from), jit_u64(e, s->to), jit_u64(e, 1));
        e->ids->item[1] = y.v ? jit_read(y.v) : jit_u64(e, s->from);
        e->control->known.decided = s->decided;
        run_row(r);
        e->control->known.decided = NULL;
        counted_end(e, &y);
    }
}

static void run_each_row(const struct run *r)
{
    struct emit *e = r->e;
    if (r->columns.n) {
        run_column_segments(r);
        return;
    }
    struct counted y = counted_each(e, e->ids->extent[1], e->ids->known_extent[1]);
    e->ids->item[1] = jit_read(y.v);
    run_row(r);
    counted_end(e, &y);
}

/* ---- tiles ---- */

/* Rows that run together. */
struct band {
    const struct run *run;
    const struct tiles *tiles;
    rval y, n; /* the first row, and how many there are */
};

/* The rows of a tile one after the other; item[0] is where it is. */
static void run_tile(const struct band *b)
{
    struct emit *e = b->run->e;
    const struct row_tests *tests = &b->run->tests;
    struct uniformity rows = e->values->uniformity;
    struct counted row = counted_begin(e, jit_u64(e, 0), jit_u64(e, tile_rows(e)), jit_u64(e, 1));
    e->ids->item[1] = jit_read(jit_keep(e, jit_add(e, b->y, jit_read(row.v))));
    if (tests->n) e->values->uniformity = tests->uniformity;
    e->control->known.scalars = tests->known;
    e->control->known.assumed = tests->assumed;
    e->memory->tiled = b->tiles->accesses;
    e->memory->tile_row = jit_read(row.v);
    run_whole_vector(b->run);
    e->memory->tiled = NULL;
    e->control->known.assumed = NULL;
    e->control->known.scalars = NULL;
    e->values->uniformity = rows;
    counted_end(e, &row);
}

/* Tiles from work-item `item` on, as far as there are some. */
static void run_tiles(const struct band *b, lval item)
{
    struct emit *e = b->run->e;
    rval others = jit_sub(e, jit_sub(e, e->ids->extent[0], jit_read(item)), jit_u64(e, 1));
    e->ids->item[0] = jit_read(item);
    e->ids->item[1] = b->y;
    rval alike = tiles_alike(e, b->tiles, &b->run->tests, jit_read(jit_keep(e, others)));
    rval whole = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, alike, jit_u64(e, 0 - (uint64_t)e->width));
    rval end = jit_read(jit_keep(e, jit_add(e, jit_read(item), whole)));
    struct below left = below_begin(e, item, end);
    run_tile(b);
    jit_set(e, item, jit_add(e, jit_read(item), jit_u64(e, e->width)));
    below_end(e, &left);
}

/* Row by row what is left of a band that is too narrow for tiles, or else a vector of each. */
static void run_between_tiles(const struct band *b, lval item, rval is_narrow)
{
    struct emit *e = b->run->e;
    rval to = jit_min(e, jit_add(e, jit_read(item), jit_u64(e, e->width)), e->ids->extent[0]);
    to = jit_read(jit_keep(e, jit_select(e, is_narrow, e->ids->extent[0], to)));
    struct counted row = counted_begin(e, jit_u64(e, 0), b->n, jit_u64(e, 1));
    e->ids->item[1] = jit_read(jit_keep(e, jit_add(e, b->y, jit_read(row.v))));
    run_part_of_row(b->run, jit_read(item), to);
    counted_end(e, &row);
    jit_set(e, item, to);
}

static void run_band(const struct band *b)
{
    struct emit *e = b->run->e;
    lval item = jit_keep(e, jit_u64(e, 0));
    rval extent = e->ids->extent[0];
    gcc_jit_block *wide = jit_block(e), *rest = jit_block(e);
    rval is_narrow = jit_compare(e, GCC_JIT_COMPARISON_LT, b->n, jit_u64(e, tile_rows(e)));
    is_narrow = jit_read(jit_keep(e, is_narrow));
    struct below left = below_begin(e, item, extent);
    jit_branch(e, is_narrow, rest, wide);
    jit_begin(e, wide);
    run_tiles(b, item);
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_LT, jit_read(item), extent), rest, left.exit);
    jit_begin(e, rest);
    run_between_tiles(b, item, is_narrow);
    below_end(e, &left);
}

/* As many rows at once as a tile has. */
static void run_bands(const struct run *r, const struct tiles *tiles)
{
    struct emit *e = r->e;
    rval rows = jit_u64(e, tile_rows(e));
    struct counted y = counted_begin(e, jit_u64(e, 0), e->ids->extent[1], rows);
    rval n = jit_min(e, jit_sub(e, e->ids->extent[1], jit_read(y.v)), rows);
    struct band b = {r, tiles, jit_read(y.v), jit_read(jit_keep(e, n))};
    run_band(&b);
    counted_end(e, &y);
}

static void run_rows(const struct run *r)
{
    struct emit *e = r->e;
    struct tiles tiles = {0};
    struct run run = *r;
    bool may_have_tiles = tiles_may_pay(e, r->first, r->end);
    if (e->width > 1 && (may_have_tiles || e->ids->known_extent[0] != e->width))
        run.tests = row_tests_find(e, r->first, r->end, TOGETHER_ROW);
    if (has_places(e)) run.before = (struct rows_before){jit_keep(e, jit_u64(e, 0)), jit_keep(e, jit_u64(e, 0))};
    if (may_have_tiles) tiles = tiles_find(e, r->first, r->end, &run.tests);
    struct counted z = counted_each(e, e->ids->extent[2], e->ids->known_extent[2]);
    e->ids->item[2] = jit_read(z.v);
    if (e->regions && !e->sub_groups && !tiles.accesses) run.segments = row_segments_find(e, &run.tests);
    if (e->regions && !e->sub_groups && !tiles.accesses && !run.segments.n)
        run.steps = row_steps_find(e, r->first, r->end);
    if (e->group_lanes && !tiles.accesses) run.columns = column_segments_find(e, r->first, r->end);
    if (tiles.accesses)
        run_bands(&run, &tiles);
    else
        run_each_row(&run);
    counted_end(e, &z);
}

/* ---- sub-groups ---- */

static void swap_uniformity(struct emit *e)
{
    struct uniformity rows = e->values->uniformity;
    e->values->uniformity = e->values->flat_uniformity;
    e->values->flat_uniformity = rows;
}

/* The work-group as if it were one row. */
static void run_flat(const struct run *r)
{
    struct emit *e = r->e;
    struct counted at = counted_begin(e, jit_u64(e, 0), e->ids->items, jit_u64(e, e->width));
    e->ids->flat = at.v;
    swap_uniformity(e);
    run_body(r, lanes_below(e, jit_min(e, ids_items_left(e), jit_u64(e, e->width))));
    swap_uniformity(e);
    e->ids->flat = NULL;
    counted_end(e, &at);
}

/* Whether no sub-group of this work-group goes on from one row to the next. */
static rval rows_are_whole(struct emit *e)
{
    const struct work_item_ids *p = e->ids;
    rval rest = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, p->extent[0], jit_u64(e, e->width - 1));
    rval whole = jit_compare(e, GCC_JIT_COMPARISON_EQ, rest, jit_u64(e, 0));
    rval single = jit_compare(e, GCC_JIT_COMPARISON_EQ, p->extent[0], p->items);
    return jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, whole, single);
}

/* Whether that is known beforehand. */
static bool is_row(const struct ir_function *kernel)
{
    const uint32_t *size = kernel->work_group_size;
    return size[0] && size[1] == 1 && size[2] == 1;
}

static void run_sub_groups(const struct run *r)
{
    struct emit *e = r->e;
    gcc_jit_block *rows = jit_block(e), *flat = jit_block(e), *done = jit_block(e);
    jit_branch(e, rows_are_whole(e), rows, flat);
    jit_begin(e, rows);
    run_rows(r);
    jit_jump(e, done);
    jit_begin(e, flat);
    run_flat(r);
    jit_jump(e, done);
    jit_begin(e, done);
}

void work_item_loop_run(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    struct run r = {.e = e, .first = first, .end = end};
    if (e->sub_groups && e->width > 1 && !is_row(e->kernel) && !fills_vectors(e))
        run_sub_groups(&r);
    else
        run_rows(&r);
}
