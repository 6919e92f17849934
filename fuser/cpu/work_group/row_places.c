/*
 * Most of what an address or a guard is computed of is the same for a row, as (z * ny + y) * nx in an index, or grows
 * with it. So it is computed for the first work-item, and the address of a later vector is that one's and as many
 * steps: an instruction for each access, where narrow indices take several. Processors see further ahead for the misses
 * of their caches the less there is between them.
 *
 * That holds for narrow indices, too: a row may pass the place where one wraps only if it leaves the memory there,
 * which is smaller than what a wrap is apart (struct shape). So only what is accessed for all work-items or for none
 * counts: under conditions that are the same for all of them.
 */
#include "fuser/cpu/work_group/row_places.h"

#include <string.h>

#include "fuser/cpu/emit/control.h"
#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/instruction.h"
#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/cpu/simd/stream.h"
#include "ir/core/facts.h"

enum memo { UNSEEN, NO, YES, COMPUTED };

enum {
    MOST_PLACES = 16, /* as many as there are registers */
    MOST_WIDE = 32,   /* accesses of who has places of 64-bit indices, which are for fetching ahead only */
    MOST_TERMS = 4,
};

/* An access whose address is computed, and by which those of its neighbours are told. */
struct leader {
    const struct ir_inst *access;
    const struct ir_value *terms[MOST_TERMS]; /* the sum that an element's index is, but for constants */
    unsigned n_terms;                         /* 0: it is no element */
    bool is_narrow;                           /* the index */
    uint64_t added;
};

struct finder {
    struct emit *e;
    struct row_places made;
    const struct rows_before *rows;
    bool *inside;      /* by instruction number */
    enum memo *before; /* by value number: whether it can be computed before the row */
    struct leader *leaders;
    uint32_t n_leaders, n_accesses;
};

/* ---- what can be computed before the row ---- */

static bool is_computable(const struct ir_inst *inst)
{
    bool is_pure = ir_op_info(inst->op)->flags & IR_FLAG_PURE;
    return is_pure && inst->n_results == 1 && !inst->blocks[0] && inst->op != IR_OP_VAR;
}

static bool is_before(struct finder *f, const struct ir_value *v);

static const struct ir_value *same_as(const struct emit *e, const struct ir_inst *inst)
{
    return e->control->known.assumed ? e->control->known.assumed[inst->scratch].same : NULL;
}

static bool find_before(struct finder *f, const struct ir_value *v)
{
    struct emit *e = f->e;
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : v->of.block->parent;
    if (!inst || !f->inside[inst->scratch]) return e->values->shared[v->scratch];
    if (v->kind != IR_VALUE_RESULT || ir_type_lanes(v->type) > 1) return false;
    if (value_shape(e, v).kind == SHAPE_VARYING) return false;
    if (f->made.scalars[inst->scratch] || ir_op_class(inst->op) == IR_CLASS_ND_RANGE) return true;
    if (same_as(e, inst)) return is_before(f, same_as(e, inst));
    if (!is_computable(inst)) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!is_before(f, inst->operands[i])) return false;
    return true;
}

static bool is_before(struct finder *f, const struct ir_value *v)
{
    if (v->kind <= IR_VALUE_PARAM) return true;
    enum memo *memo = &f->before[v->scratch];
    if (*memo == UNSEEN) *memo = find_before(f, v) ? YES : NO;
    return *memo != NO;
}

static const struct lanes *compute(struct finder *f, const struct ir_value *v)
{
    struct emit *e = f->e;
    if (v->kind != IR_VALUE_RESULT || !f->inside[v->of.inst->scratch]) return emit_value(e, v);
    if (f->before[v->scratch] == COMPUTED) return emit_value(e, v);
    const struct ir_inst *inst = v->of.inst;
    f->before[v->scratch] = COMPUTED;
    bool is_condition = f->made.scalars[inst->scratch];
    if (!is_condition && same_as(e, inst)) compute(f, same_as(e, inst));
    const struct known known = {.scalars = f->made.scalars, .assumed = e->control->known.assumed};
    if (!value_define_known(e, &known, inst)) {
        for (uint32_t i = 0; i < inst->n_operands; i++) compute(f, inst->operands[i]);
        emit_instruction(e, inst);
    }
    return emit_value(e, v);
}

/* ---- conditions ---- */

/* Whether it is the same for all work-items of the row. */
static bool is_fixed(struct finder *f, const struct ir_value *v)
{
    return v->kind <= IR_VALUE_PARAM || (value_shape(f->e, v).kind == SHAPE_UNIFORM && is_before(f, v));
}

static void know(struct finder *f, const struct ir_value *v)
{
    if (v->kind != IR_VALUE_RESULT || !f->inside[v->of.inst->scratch]) return;
    lval *known = &f->made.scalars[v->of.inst->scratch];
    if (!*known) *known = jit_keep(f->e, compute(f, v)->scalar);
}

/* Whether an id is part of it, as of a guard, which most rows pass. Others may ask for what is rarely done. */
static bool is_of_ids(const struct ir_value *v, unsigned depth)
{
    if (v->kind != IR_VALUE_RESULT || !depth) return false;
    const struct ir_inst *inst = v->of.inst;
    if (ir_op_class(inst->op) == IR_CLASS_ND_RANGE) return true;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (is_of_ids(inst->operands[i], depth - 1)) return true;
    return false;
}

/* ---- functions ---- */

/* That of the same number for all, as `pow(base, step)` of two arguments: gcc does not see that a call may be moved. */
static void see_function(struct finder *f, const struct ir_inst *inst)
{
    const struct ir_value *v = inst->n_results ? inst->results[0] : NULL;
    if (!v || !ir_op_is_function(inst->op) || v->kind != IR_VALUE_RESULT || !is_fixed(f, v)) return;
    know(f, v);
}

/* ---- accesses ---- */

static bool encloses(const struct ir_block *block, const struct ir_inst *inst)
{
    while (inst && inst->parent != block) inst = inst->parent->parent;
    return inst;
}

/* Adds up the terms of an index, at most `room` of them, and apart from them its constants. */
static void add_terms(const struct finder *f, struct leader *l, const struct ir_value *v, unsigned room)
{
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    unsigned before = l->n_terms;
    uint64_t n;
    if (ir_value_uint(v, &n)) {
        l->added += n;
    } else if (inst && f->inside[inst->scratch] && same_as(f->e, inst)) {
        add_terms(f, l, same_as(f->e, inst), room);
    } else if (inst && inst->op == IR_OP_SUB && ir_value_uint(inst->operands[1], &n)) {
        l->added -= n;
        add_terms(f, l, inst->operands[0], room);
    } else if (inst && inst->op == IR_OP_ADD && room > 1) {
        add_terms(f, l, inst->operands[0], room - 1);
        add_terms(f, l, inst->operands[1], room - (l->n_terms - before));
    } else {
        l->terms[l->n_terms++] = v;
    }
}

/* An element's index as a sum, in the width in which it is computed. */
static void take_apart(const struct finder *f, struct leader *l)
{
    const struct ir_value *pointer = l->access->operands[0];
    if (pointer->kind != IR_VALUE_RESULT || pointer->of.inst->op != IR_OP_ELEM) return;
    const struct ir_value *index = pointer->of.inst->operands[1];
    const struct ir_inst *inst = index->kind == IR_VALUE_RESULT ? index->of.inst : NULL;
    if (inst && (inst->op == IR_OP_SEXT || inst->op == IR_OP_ZEXT)) index = inst->operands[0];
    if (ir_type_bits(index->type) < 32) return;
    add_terms(f, l, index, MOST_TERMS);
    l->is_narrow = ir_type_bits(index->type) == 32;
    if (l->is_narrow) l->added = (uint64_t)(int64_t)(int32_t)l->added;
}

static bool has_terms(const struct leader *a, const struct leader *b)
{
    bool taken[MOST_TERMS] = {false};
    if (a->n_terms != b->n_terms) return false;
    for (unsigned i = 0; i < a->n_terms; i++) {
        unsigned k = 0;
        while (k < b->n_terms && (taken[k] || !ir_value_same(a->terms[i], b->terms[k]))) k++;
        if (k == b->n_terms) return false;
        taken[k] = true;
    }
    return true;
}

static bool is_beside(const struct leader *a, const struct leader *b)
{
    if (!a->n_terms || !has_terms(a, b)) return false;
    const struct ir_inst *x = a->access->operands[0]->of.inst, *y = b->access->operands[0]->of.inst;
    return ir_value_same(x->operands[0], y->operands[0]) && x->type == y->type &&
           x->operands[1]->type == y->operands[1]->type;
}

/* Where both are accessed, both lie in the same memory: a constant number of elements apart, wraps or not. */
static const struct leader *leader_of(const struct finder *f, const struct leader *l)
{
    for (uint32_t i = 0; i < f->n_leaders; i++)
        if (is_beside(&f->leaders[i], l) && encloses(f->leaders[i].access->parent, l->access)) return &f->leaders[i];
    return NULL;
}

/* Where the place is that an access of the work-item at 0 would be. */
static bool find_place(struct finder *f, const struct ir_inst *access, int64_t stride, struct row_place *place)
{
    struct emit *e = f->e;
    const struct ir_value *pointer = access->operands[0];
    struct leader l = {.access = access};
    take_apart(f, &l);
    const struct leader *leader = leader_of(f, &l);
    if (leader) {
        place->first = f->made.places[leader->access->scratch].first;
        place->offset = (l.added - leader->added) * ir_type_size(e->module, pointer->of.inst->type);
        return true;
    }
    bool pays = l.is_narrow || f->n_accesses <= MOST_WIDE;
    if (!l.n_terms || !pays || f->n_leaders == MOST_PLACES) return false;
    rval steps = jit_mul(e, e->ids->item[0], jit_int(e, IR_KIND_I64, (uint64_t)stride));
    place->first = jit_keep(e, jit_sub(e, compute(f, pointer)->scalar, steps));
    f->leaders = arena_grow(e->arena, f->leaders, f->n_leaders, sizeof *f->leaders);
    f->leaders[f->n_leaders++] = l;
    return true;
}

static void see_access(struct finder *f, const struct ir_inst *access)
{
    struct emit *e = f->e;
    const struct ir_value *pointer = access->operands[0];
    if (access->attrs.is_volatile || pointer->kind != IR_VALUE_RESULT || !is_before(f, pointer)) return;
    struct shape shape = value_shape(e, pointer);
    struct row_place *place = &f->made.places[access->scratch];
    if (shape.kind != SHAPE_LINEAR || !find_place(f, access, shape.stride, place)) return;
    /* Whole vectors of neighbours' numbers are apart by what their addresses are to be multiples of. */
    bool neighbours = shape.stride == (int64_t)ir_type_size(e->module, access->type);
    if (access->op == IR_OP_STORE && e->memory->keeps_cached && neighbours)
        place->streams = jit_keep(e, stream_may(e, e->memory->keeps_cached, compute(f, pointer)->scalar));
}

/* ---- what rows will load ---- */

/*
 * Of rows that one vector loads from the same memory, as those of a stencil, the last one in memory is the one that no
 * row before has brought into a cache. Processors fetch ahead, but neither beyond the end of a page nor through the
 * misses of so many rows: so the code does. Behind a row's end comes what the next row will load, where rows follow
 * each other in memory; else nothing may need it.
 */
static const struct ir_value *rows_memory(const struct leader *l)
{
    const struct ir_inst *elem = l->access->operands[0]->of.inst;
    bool is_load = l->access->op == IR_OP_LOAD && ir_type_space(l->access->operands[0]->type) == IR_SPACE_GLOBAL;
    return is_load && l->n_terms ? elem->operands[0] : NULL;
}

static bool loads_of(const struct leader *l, const struct ir_value *memory)
{
    const struct ir_value *other = rows_memory(l);
    return other && ir_value_same(other, memory);
}

/* Whether more rows of the memory are loaded, and none of them is before this one in the list. */
static bool leads_rows(const struct finder *f, const struct leader *l)
{
    const struct ir_value *memory = rows_memory(l);
    for (const struct leader *i = f->leaders; memory && i < l; i++)
        if (loads_of(i, memory)) return false;
    for (const struct leader *i = l + 1; memory && i < f->leaders + f->n_leaders; i++)
        if (loads_of(i, memory)) return true;
    return false;
}

static lval place_of(const struct finder *f, const struct leader *l)
{
    return f->made.places[l->access->scratch].first;
}

/* How far ahead is fetched, when this row begins and the one before did so at rows->place. */
static rval distance_ahead(struct finder *f, rval place, uint64_t bytes)
{
    enum { PAGE = 4096, LONG_ROW = 16 * PAGE };
    struct emit *e = f->e;
    rval zero = jit_u64(e, 0), far = jit_u64(e, PAGE), apart = jit_sub(e, place, jit_read(f->rows->place));
    apart = jit_read(jit_keep(e, apart));
    rval row = jit_read(jit_keep(e, jit_mul(e, e->ids->extent[0], jit_u64(e, bytes))));
    rval gap = jit_binary(e, GCC_JIT_BINARY_OP_DIVIDE, row, jit_u64(e, 8));
    rval follows = jit_compare(e, GCC_JIT_COMPARISON_LE, apart, jit_add(e, row, gap));
    rval is_long = jit_compare(e, GCC_JIT_COMPARISON_GE, row, jit_u64(e, LONG_ROW));
    rval is_same = jit_compare(e, GCC_JIT_COMPARISON_EQ, apart, zero);
    rval is_more = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, follows, is_long);
    rval distance = jit_select(e, is_more, far, zero);
    jit_set(e, f->rows->distance, jit_select(e, is_same, jit_read(f->rows->distance), distance));
    jit_set(e, f->rows->place, place);
    return jit_read(f->rows->distance);
}

static void fetch_ahead(struct finder *f, const struct leader *l)
{
    struct emit *e = f->e;
    lval last = jit_keep(e, jit_read(place_of(f, l)));
    for (const struct leader *i = l + 1; i < f->leaders + f->n_leaders; i++) {
        if (!loads_of(i, rows_memory(l))) continue;
        rval other = jit_read(place_of(f, i));
        rval is_behind = jit_compare(e, GCC_JIT_COMPARISON_GT, other, jit_read(last));
        jit_set(e, last, jit_select(e, is_behind, other, jit_read(last)));
    }
    rval distance = distance_ahead(f, jit_read(place_of(f, l)), ir_type_size(e->module, l->access->type));
    rval ahead = jit_sub(e, jit_add(e, jit_read(last), distance), jit_read(place_of(f, l)));
    f->made.places[l->access->scratch].ahead = jit_keep(e, ahead);
}

/* ---- the instructions of a row ---- */

static void see_exit(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_RETURN || inst->op == IR_OP_UNREACHABLE) *(bool *)data = true;
}

/* False where some work-items may have ended, so that those that go on are not all. `mostly`: most rows come here. */
static bool see_instructions(struct finder *f, const struct ir_inst *first, const struct ir_inst *end, bool mostly)
{
    enum { DEPTH = 6 };
    bool all = true;
    for (const struct ir_inst *i = first; i && i != end && all; i = i->next) {
        if (mostly) see_function(f, i);
        if (i->op == IR_OP_LOAD || i->op == IR_OP_STORE) see_access(f, i);
        if (i->op == IR_OP_IF && is_fixed(f, i->operands[0])) {
            know(f, i->operands[0]);
            bool guards = mostly && is_of_ids(i->operands[0], DEPTH);
            for (int b = 0; b < 2; b++) all = see_instructions(f, i->blocks[b]->first, NULL, guards) && all;
            continue;
        }
        bool exits = false;
        for (int b = 0; b < 2; b++)
            if (i->blocks[b]) ir_walk(i->blocks[b], see_exit, &exits);
        all = !exits;
    }
    return all;
}

static void mark_inside(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    f->inside[inst->scratch] = true;
    if (inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE) f->n_accesses++;
}

struct row_places row_places_make(struct emit *e, const struct ir_inst *first, const struct ir_inst *end,
                                  const struct rows_before *rows)
{
    const struct uniformity *u = &e->values->uniformity;
    struct finder f = {.e = e, .rows = rows};
    f.inside = arena_alloc(e->arena, u->n_insts * sizeof *f.inside);
    f.before = arena_alloc(e->arena, u->n_values * sizeof *f.before);
    f.made.places = arena_alloc(e->arena, u->n_insts * sizeof *f.made.places);
    f.made.scalars = arena_alloc(e->arena, u->n_insts * sizeof *f.made.scalars);
    const lval *known = e->control->known.scalars;
    if (known) memcpy(f.made.scalars, known, u->n_insts * sizeof *f.made.scalars);
    for (const struct ir_inst *i = first; i && i != end; i = i->next) {
        mark_inside((struct ir_inst *)i, &f);
        for (int b = 0; b < 2; b++)
            if (i->blocks[b]) ir_walk(i->blocks[b], mark_inside, &f);
    }
    emit_reset(e);
    see_instructions(&f, first, end, true);
    for (const struct leader *l = f.leaders; l < f.leaders + f.n_leaders; l++)
        if (leads_rows(&f, l)) fetch_ahead(&f, l);
    return f.made;
}
