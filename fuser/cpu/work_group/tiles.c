/*
 * Whether work-items run by tiles: a vector of them in several rows before the next vector. That pays where numbers are
 * neighbours in memory along y but not along x, as those that a transpose stores: whole cache lines of them are moved
 * then (simd/tile.h). A tile's loads are done in its first row and its stores in its last, so no access between may be
 * of the same place; and all of its work-items must come to them.
 *
 * Comparisons of ids come to the same in a tile where they do along its first and last row and its first column: both
 * sides are planes.
 */
#include "fuser/cpu/work_group/tiles.h"

#include "fuser/cpu/emit/control.h"
#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/tile.h"
#include "fuser/cpu/work_group/row_outcomes.h"
#include "fuser/passes/alias.h"
#include "ir/core/facts.h"

enum { MOST_ACCESSES = 64, NEAR_WORDS = 8, MOST_NUMBERS = 4 /* of a vector */ };

struct finder {
    struct emit *e;
    const struct ir_block *block;            /* of the instructions that are searched */
    const struct uniformity *rows, *columns; /* columns NULL: not known yet */
    const struct ir_inst *accesses[MOST_ACCESSES];
    unsigned n;
    bool far; /* there are some whose numbers are no neighbours along a row */
    bool prevented;
};

static struct shape shape_of(const struct uniformity *u, const struct ir_value *v)
{
    return v->kind < IR_VALUE_PARAM ? (struct shape){SHAPE_UNIFORM, 0, false} : u->values[v->scratch];
}

/* ---- what may be in a tile ---- */

static bool is_in_loop(const struct finder *f, const struct ir_inst *inst)
{
    for (; inst->parent != f->block; inst = inst->parent->parent)
        if (inst->parent->parent->op == IR_OP_LOOP) return true;
    return false;
}

/* Not moved by whole registers along a row, not even with shuffles. */
static bool is_far(const struct finder *f, const struct ir_inst *inst)
{
    struct shape s = shape_of(f->rows, inst->operands[0]);
    int64_t bytes = (int64_t)ir_type_size(f->e->module, inst->type);
    ir_type number = ir_type_with_lanes(inst->type, 1);
    unsigned n = ir_type_lanes(inst->type);
    bool fits = n <= MOST_NUMBERS && !(n & (n - 1)) && ir_type_is_number(number) && !ir_type_is_bool(number) &&
                tile_can_hold(f->e, ir_type_kind(inst->type));
    bool near =
        s.kind == SHAPE_UNIFORM || (s.kind == SHAPE_LINEAR && s.stride >= -bytes && s.stride <= NEAR_WORDS * bytes);
    return fits && !near && !inst->attrs.is_volatile && !is_in_loop(f, inst);
}

static void see_inst(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    switch (inst->op) {
    case IR_OP_LOAD:
    case IR_OP_STORE:
        if (f->n == MOST_ACCESSES) f->prevented = true;
        if (!f->prevented) f->accesses[f->n++] = inst;
        f->far = f->far || is_far(f, inst);
        break;
    case IR_OP_IF:
    case IR_OP_LOOP:
    case IR_OP_BARRIER:
    case IR_OP_VAR: break;
    default:
        if (ir_op_info(inst->op)->flags & IR_FLAG_TERMINATOR) break;
        if (!(ir_op_info(inst->op)->flags & IR_FLAG_PURE)) f->prevented = true;
    }
}

/* ---- whether all work-items of a tile come there ---- */

static bool is_together(const struct finder *f, const struct ir_inst *inst)
{
    while (inst->parent != f->block) {
        inst = inst->parent->parent;
        if (f->rows->divergent[inst->scratch] || f->columns->divergent[inst->scratch]) return false;
    }
    return true;
}

static void see_exit(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    if (inst->op == IR_OP_RETURN && !is_together(f, inst)) f->prevented = true;
}

static bool same_test(const struct row_test *a, const struct row_test *b)
{
    return a->op == b->op && ir_value_same(a->sides[0], b->sides[0]) && ir_value_same(a->sides[1], b->sides[1]) &&
           a->carried == b->carried && a->wanted == b->wanted;
}

/* Whether a test along rows says the same in each row of a tile, or is one along columns too. */
static bool is_plane(const struct finder *f, const struct row_test *t, const struct row_tests *columns)
{
    bool fixed = true;
    for (int k = 0; k < 2; k++) fixed = fixed && shape_of(f->columns, t->sides[k]).kind == SHAPE_UNIFORM;
    for (uint32_t i = 0; i < columns->n && !fixed; i++) fixed = same_test(t, &columns->tests[i]);
    return fixed;
}

/* ---- which accesses are a tile's ---- */

static bool is_column(const struct finder *f, const struct ir_inst *inst)
{
    struct shape s = shape_of(f->columns, inst->operands[0]);
    return s.kind == SHAPE_LINEAR && s.stride == (int64_t)ir_type_size(f->e->module, inst->type);
}

/* Whether it may be done before what comes before, or a store after what comes after. */
static bool may_move(const struct finder *f, const struct alias *alias, unsigned at)
{
    const struct ir_inst *inst = f->accesses[at];
    uint64_t bytes = ir_type_size(f->e->module, inst->type);
    bool stores = inst->op == IR_OP_STORE;
    struct alias_place place = alias_place(alias, inst->operands[0], bytes);
    for (unsigned i = stores ? at + 1 : 0; i < (stores ? f->n : at); i++) {
        const struct ir_inst *other = f->accesses[i];
        if (!stores && other->op == IR_OP_LOAD) continue;
        struct alias_place there = alias_place(alias, other->operands[0], ir_type_size(f->e->module, other->type));
        if (alias_may(alias, &place, &there)) return false;
    }
    return true;
}

static bool *find_accesses(const struct finder *f)
{
    struct alias alias;
    bool *found = NULL;
    alias_init(&alias, f->e->kernel, f->rows->n_values + 1);
    for (unsigned i = 0; i < f->n; i++) {
        const struct ir_inst *inst = f->accesses[i];
        if (!is_far(f, inst) || !is_column(f, inst) || !is_together(f, inst) || !may_move(f, &alias, i)) continue;
        if (!found) found = arena_alloc(f->e->arena, f->rows->n_insts * sizeof *found);
        found[inst->scratch] = true;
    }
    alias_clear(&alias);
    return found;
}

static void walk(struct finder *f, const struct ir_inst *first, const struct ir_inst *end,
                 void (*see)(struct ir_inst *inst, void *data))
{
    for (const struct ir_inst *i = first; i && i != end; i = i->next) {
        see((struct ir_inst *)i, f);
        for (int b = 0; b < 2; b++)
            if (i->blocks[b]) ir_walk(i->blocks[b], see, f);
    }
}

bool tiles_may_pay(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    struct finder f = {.e = e, .block = first->parent, .rows = &e->values->uniformity};
    uint32_t known = e->ids->known_extent[1];
    if (e->width == 1 || e->sub_groups || (known && known < tile_rows(e))) return false;
    walk(&f, first, end, see_inst);
    return f.far && !f.prevented;
}

struct tiles tiles_find(struct emit *e, const struct ir_inst *first, const struct ir_inst *end,
                        const struct row_tests *rows)
{
    struct tiles t = {0};
    struct finder f = {.e = e, .block = first->parent, .rows = rows->n ? &rows->uniformity : &e->values->uniformity};
    walk(&f, first, end, see_inst);
    if (f.prevented || !f.far) return t;
    struct uniformity row = e->values->uniformity;
    uniformity_find(&t.uniformity, e->arena, e->kernel, TOGETHER_COLUMN);
    e->values->uniformity = t.uniformity;
    t.columns = row_tests_find(e, first, end, TOGETHER_COLUMN);
    e->values->uniformity = row;
    if (t.columns.n) t.uniformity = t.columns.uniformity;
    f.columns = &t.uniformity;
    walk(&f, first, end, see_exit);
    for (uint32_t i = 0; i < rows->n && !f.prevented; i++) f.prevented = !is_plane(&f, &rows->tests[i], &t.columns);
    if (!f.prevented) t.accesses = find_accesses(&f);
    return t;
}

/* ---- where a tile is ---- */

/* The tests along the first row and the last; *alike: a bool that becomes false where they differ. */
static rval along_rows(struct emit *e, const struct row_tests *rows, rval others, lval alike)
{
    rval y = e->ids->item[1];
    lval *before = arena_alloc(e->arena, rows->n * sizeof *before);
    emit_reset(e);
    others = jit_read(jit_keep(e, row_outcomes(e, rows, others)));
    for (uint32_t i = 0; i < rows->n; i++)
        if (rows->tests[i].holds) before[i] = jit_keep(e, jit_read(rows->tests[i].holds));
    e->ids->item[1] = jit_read(jit_keep(e, jit_add(e, y, jit_u64(e, tile_rows(e) - 1))));
    emit_reset(e);
    others = jit_read(jit_keep(e, row_outcomes(e, rows, others)));
    for (uint32_t i = 0; i < rows->n; i++) {
        if (!before[i]) continue;
        rval same = jit_compare(e, GCC_JIT_COMPARISON_EQ, jit_read(before[i]), jit_read(rows->tests[i].holds));
        jit_set(e, alike, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_read(alike), same));
    }
    e->ids->item[1] = y;
    return others;
}

/* Those along the first column. */
static void along_column(struct emit *e, const struct tiles *tiles, lval alike)
{
    struct uniformity row = e->values->uniformity;
    rval last = jit_u64(e, tile_rows(e) - 1);
    e->values->uniformity = tiles->uniformity;
    e->ids->along = 1;
    emit_reset(e);
    rval others = jit_read(jit_keep(e, row_outcomes(e, &tiles->columns, last)));
    rval all = jit_compare(e, GCC_JIT_COMPARISON_GE, others, last);
    jit_set(e, alike, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_read(alike), all));
    e->ids->along = 0;
    e->values->uniformity = row;
}

rval tiles_alike(struct emit *e, const struct tiles *tiles, const struct row_tests *rows, rval others)
{
    lval alike = jit_keep(e, jit_int(e, IR_KIND_BOOL, 1));
    if (tiles->columns.n) along_column(e, tiles, alike);
    if (rows->n) others = along_rows(e, rows, others, alike);
    rval n = jit_read(jit_keep(e, jit_add(e, others, jit_u64(e, 1))));
    return jit_select(e, jit_read(alike), n, jit_u64(e, 0));
}
