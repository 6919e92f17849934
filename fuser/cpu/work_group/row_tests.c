/*
 * Comparisons of ids, in the conditions of ifs and in minima and maxima (index-set splitting). Where one side grows by
 * a constant step along a row and the other stays, how far the outcome stays the same is found by a subtraction: up to
 * where the one passes the other, or wraps. For the work-items up to there an `if` on such comparisons is a jump,
 * whatever their number and however they are combined, and an index kept within borders is what it was before.
 *
 * What grows may also count with a loop, as x + dx does with dx from -radius to radius: then it is the same as long as
 * it is for the first and the last dx.
 *
 * Quotients of ids, as the row i / width of a pixel, stay the same for parts of a row as well. There remainders grow
 * like what was divided, so that accesses at i % width are those of neighbours.
 */
#include "fuser/cpu/work_group/row_tests.h"

#include <string.h>

#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/op.h"
#include "fuser/cpu/work_group/local_value.h"

enum memo { UNSEEN, YES, NO };

/* Of a value: whether it can be computed before the row, and what it is made of. */
struct computable {
    enum memo is;
    const struct ir_value *carried; /* by a loop, once; NULL: by none */
    int factor;                     /* how often it is in the value */
};

struct finder {
    struct emit *e;
    const struct shape *shapes; /* by value number; once quotients are found, where each stays the same */
    struct row_tests found;
    bool *inside;                  /* by instruction number: among those that are searched */
    struct computable *computable; /* by value number */
    bool *searched, *listed;       /* by value number */
    bool finds_quotients;          /* at first, and nothing else */
    unsigned total;                /* cost of all */
};

/* ---- what depends on a condition ---- */

enum { FUNCTION_COST = 16, LOOP_ROUNDS = 8, MOST_COST = 1 << 20, SHARE = 4, DEEPEST = 4 };

static unsigned cost_of_block(const struct ir_block *block);

static unsigned cost_of(const struct ir_inst *inst)
{
    unsigned cost = ir_op_is_function(inst->op) ? FUNCTION_COST : 1;
    for (int b = 0; b < 2; b++)
        if (inst->blocks[b]) cost += cost_of_block(inst->blocks[b]) * (inst->op == IR_OP_LOOP ? LOOP_ROUNDS : 1);
    return cost < MOST_COST ? cost : MOST_COST;
}

static unsigned cost_of_block(const struct ir_block *block)
{
    unsigned cost = 0;
    for (const struct ir_inst *i = block->first; i; i = i->next) cost += cost_of(i);
    return cost < MOST_COST ? cost : MOST_COST;
}

/* How often an instruction runs for once that the region does. */
static unsigned rounds_of(const struct finder *f, const struct ir_inst *inst)
{
    unsigned rounds = 1, depth = 0;
    for (inst = inst->parent->parent; inst && f->inside[inst->scratch]; inst = inst->parent->parent)
        if (inst->op == IR_OP_LOOP && depth++ < DEEPEST) rounds *= LOOP_ROUNDS;
    return rounds;
}

/* ---- what can be computed before the row ---- */

enum { MOST_TIMES = 8 };

/* What a value is where each index is within its borders. */
static const struct ir_value *chosen(const struct finder *f, const struct ir_value *v)
{
    while (v->kind == IR_VALUE_RESULT && f->found.assumed[v->of.inst->scratch].same)
        v = f->found.assumed[v->of.inst->scratch].same;
    return v;
}

static struct computable computable(struct finder *f, const struct ir_value *v);

static bool is_uniform(const struct finder *f, const struct ir_value *v)
{
    return v->kind < IR_VALUE_PARAM || f->shapes[v->scratch].kind == SHAPE_UNIFORM;
}

static bool is_end_of_range(struct finder *f, const struct ir_value *v)
{
    struct computable c = computable(f, v);
    return c.is == YES && !c.carried && is_uniform(f, v);
}

static struct computable carried_value(struct finder *f, const struct ir_value *v)
{
    struct loop_range range;
    if (!is_uniform(f, v) || !loop_range_find(v, &range)) return (struct computable){NO};
    bool known = is_end_of_range(f, range.first) && is_end_of_range(f, range.bound);
    return known ? (struct computable){YES, v, 1} : (struct computable){NO};
}

/* Of a value that counts with a loop; an extension does as far as the value does not wrap, which is seen. */
static bool keeps_order(enum ir_op op)
{
    return op == IR_OP_ADD || op == IR_OP_SUB || op == IR_OP_SEXT || op == IR_OP_ZEXT;
}

static struct computable computed(struct finder *f, const struct ir_inst *inst)
{
    bool id = ir_op_class(inst->op) == IR_CLASS_ND_RANGE;
    struct computable r = {id || (ir_op_info(inst->op)->flags & IR_FLAG_PURE) ? YES : NO};
    for (uint32_t i = 0; r.is == YES && i < inst->n_operands; i++) {
        struct computable part = computable(f, inst->operands[i]);
        if (part.is == NO || (r.carried && part.carried && r.carried != part.carried)) return (struct computable){NO};
        if (!part.carried) continue;
        if (!keeps_order(inst->op)) return (struct computable){NO};
        r.carried = part.carried;
        r.factor += inst->op == IR_OP_SUB && i == 1 ? -part.factor : part.factor;
        if (r.factor > MOST_TIMES || r.factor < -MOST_TIMES) return (struct computable){NO};
    }
    return r;
}

/* From ids, arguments, what is the work-group's, and one value that a loop counts with. */
static struct computable find_computable(struct finder *f, const struct ir_value *v)
{
    if (f->shapes[v->scratch].kind == SHAPE_VARYING) return (struct computable){NO};
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : v->of.block->parent;
    if (!f->inside[inst->scratch]) return (struct computable){f->e->values->shared[v->scratch] ? YES : NO};
    return v->kind == IR_VALUE_RESULT ? computed(f, inst) : carried_value(f, v);
}

static struct computable computable(struct finder *f, const struct ir_value *v)
{
    v = chosen(f, v);
    if (v->kind <= IR_VALUE_PARAM) return (struct computable){YES};
    struct computable *memo = &f->computable[v->scratch];
    if (memo->is == UNSEEN) *memo = find_computable(f, v);
    return *memo;
}

/* Adds what a value is computed of, operands first. */
static void need(struct finder *f, struct row_test_group *g, const struct ir_value *v)
{
    if (v->kind != IR_VALUE_RESULT || f->listed[v->scratch] || !f->inside[v->of.inst->scratch]) return;
    f->listed[v->scratch] = true;
    const struct ir_inst *inst = v->of.inst;
    for (uint32_t i = 0; i < inst->n_operands; i++) need(f, g, inst->operands[i]);
    g->needed = arena_grow(f->e->arena, g->needed, g->n_needed, sizeof *g->needed);
    g->needed[g->n_needed++] = inst;
}

static void add_group(struct finder *f, const struct ir_value *carried)
{
    for (uint32_t i = 0; i < f->found.n_groups; i++)
        if (f->found.groups[i].carried == carried) return;
    f->found.groups = arena_grow(f->e->arena, f->found.groups, f->found.n_groups, sizeof *f->found.groups);
    struct row_test_group *g = &f->found.groups[f->found.n_groups++];
    *g = (struct row_test_group){.carried = carried};
    if (carried) loop_range_find(carried, &g->range);
}

static void complete_group(struct finder *f, struct row_test_group *g)
{
    memset(f->listed, 0, f->e->values->uniformity.n_values * sizeof *f->listed);
    if (g->carried) {
        need(f, g, g->range.first);
        need(f, g, g->range.bound);
    }
    g->n_of_range = g->n_needed;
    for (uint32_t i = 0; i < f->found.n; i++)
        for (int k = 0; k < 2 && f->found.tests[i].carried == g->carried; k++) need(f, g, f->found.tests[i].sides[k]);
}

/* ---- tests ---- */

static bool moves_evenly(const struct finder *f, const struct ir_value *v)
{
    return v->kind >= IR_VALUE_PARAM && f->shapes[v->scratch].kind == SHAPE_LINEAR && !f->shapes[v->scratch].wraps;
}

bool row_test_is_equality(enum ir_op op)
{
    return op == IR_OP_IEQ || op == IR_OP_INE;
}

/* Whether it is a test that can be made before the row; fills in `test`. */
static bool make_test(struct finder *f, enum ir_op op, const struct ir_value *a, const struct ir_value *b,
                      struct row_test *test)
{
    ir_type t = a->type;
    if (ir_type_lanes(t) > 1 || ir_type_kind(t) < IR_KIND_I32 || ir_type_kind(t) > IR_KIND_I64) return false;
    *test = (struct row_test){.op = op, .sides = {chosen(f, a), chosen(f, b)}};
    test->moves = moves_evenly(f, test->sides[0]) ? 0 : 1;
    const struct ir_value *moving = test->sides[test->moves], *fixed = test->sides[1 - test->moves];
    if (!moves_evenly(f, moving) || !is_uniform(f, fixed)) return false;
    struct computable m = computable(f, moving), s = computable(f, fixed);
    if (m.is == NO || s.is == NO || s.carried || (m.carried && row_test_is_equality(op))) return false;
    test->carried = m.carried;
    test->falls = m.factor < 0;
    return true;
}

static void add_test(struct finder *f, struct row_test test, enum wanted wanted)
{
    test.wanted = wanted;
    add_group(f, test.carried);
    f->found.tests = arena_grow(f->e->arena, f->found.tests, f->found.n, sizeof *f->found.tests);
    f->found.tests[f->found.n++] = test;
}

static void add_comparison(struct finder *f, const struct ir_inst *inst)
{
    struct row_test test;
    if (!make_test(f, inst->op, inst->operands[0], inst->operands[1], &test)) return;
    f->found.assumed[inst->scratch].uniform = true;
    test.made = inst;
    f->found.known[inst->scratch] = test.holds = jit_local(f->e, jit_type(f->e, IR_KIND_BOOL));
    add_test(f, test, ANY_OUTCOME);
}

/* ---- quotients ---- */

static bool is_division(enum ir_op op)
{
    return op == IR_OP_SDIV || op == IR_OP_UDIV || op == IR_OP_SREM || op == IR_OP_UREM;
}

bool row_test_is_quotient(enum ir_op op)
{
    return is_division(op) || op == IR_OP_ASHR || op == IR_OP_LSHR || op == IR_OP_AND;
}

bool row_test_is_unsigned(enum ir_op op)
{
    return op == IR_OP_UDIV || op == IR_OP_UREM || ir_op_info(op)->flags & IR_FLAG_UNSIGNED;
}

bool row_test_is_remainder(enum ir_op op)
{
    return op == IR_OP_SREM || op == IR_OP_UREM || op == IR_OP_AND;
}

uint64_t row_test_divisor(const struct row_test *t)
{
    uint64_t n;
    if (!ir_value_uint(t->sides[1 - t->moves], &n)) return 0;
    switch (t->op) {
    case IR_OP_ASHR:
    case IR_OP_LSHR: return 1ull << (n & (ir_type_bits(t->sides[0]->type) - 1));
    case IR_OP_AND: return n & (n + 1) ? 0 : n + 1;
    default: return n;
    }
}

/* Whether there are vectors of work-items for whom it is the same. What divides may be anything until it runs. */
static bool is_long(const struct finder *f, const struct row_test *t)
{
    if (t->sides[1 - t->moves]->kind != IR_VALUE_CONST) return true;
    int64_t stride = f->shapes[t->sides[t->moves]->scratch].stride;
    uint64_t size = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
    return size < MOST_COST && row_test_divisor(t) >= 2 * f->e->width * size;
}

bool row_test_at(const struct row_test *t, unsigned dim, uint32_t item, uint64_t *outcome)
{
    uint64_t whole;
    if (!t->made || !local_value_at(t->made->results[0], dim, item, outcome)) return false;
    if (!row_test_is_remainder(t->op)) return true;
    if (!local_value_at(t->sides[t->moves], dim, item, &whole)) return false;
    *outcome = whole - *outcome;
    return true;
}

/* Whether it is known to be the same all through each vector of a row. */
static bool fits_vectors(const struct emit *e, const struct row_test *t, uint32_t extent)
{
    uint64_t outcome, before = 0;
    if (!extent || extent > LONGEST_KNOWN_ROW) return false;
    for (uint32_t item = 0; item < extent; item++) {
        if (!row_test_at(t, 0, item, &outcome)) return false;
        if (item % e->width && outcome != before) return false;
        before = outcome;
    }
    return true;
}

static void add_quotient(struct finder *f, const struct ir_inst *inst)
{
    struct row_test test;
    if (!make_test(f, inst->op, inst->operands[0], inst->operands[1], &test)) return;
    test.made = inst;
    if (test.carried || (test.moves && inst->op != IR_OP_AND)) return;
    if (!is_long(f, &test) && !fits_vectors(f->e, &test, f->e->ids->known_extent[0])) return;
    struct assumed *assumed = &f->found.assumed[inst->scratch];
    if (row_test_is_remainder(inst->op))
        assumed->grows_as = inst->operands[test.moves];
    else
        assumed->uniform = true;
    for (uint32_t i = 0; i < f->found.n; i++) { /* the remainder of a quotient */
        const struct row_test *other = &f->found.tests[i];
        bool same = ir_value_same(test.sides[0], other->sides[0]) && ir_value_same(test.sides[1], other->sides[1]);
        if (same && is_division(test.op) && is_division(other->op) &&
            row_test_is_unsigned(test.op) == row_test_is_unsigned(other->op))
            return;
    }
    if (assumed->uniform)
        f->found.known[inst->scratch] = test.holds = jit_local(f->e, jit_type(f->e, ir_type_kind(inst->type)));
    add_test(f, test, ANY_OUTCOME);
}

/* ---- conditions ---- */

static void search_condition(struct finder *f, const struct ir_value *v);

static void search_yields(struct finder *f, const struct ir_block *block, uint32_t index)
{
    if (block->last->op == IR_OP_YIELD) search_condition(f, block->last->operands[index]);
}

/* The comparisons that a condition is made of: through logic, ifs with bools as results, and bools kept as integers. */
static void search_condition(struct finder *f, const struct ir_value *v)
{
    if (v->kind != IR_VALUE_RESULT || f->searched[v->scratch] || !f->inside[v->of.inst->scratch]) return;
    f->searched[v->scratch] = true;
    const struct ir_inst *inst = v->of.inst;
    if (op_is_comparison(inst->op) && f->shapes[v->scratch].kind == SHAPE_VARYING) add_comparison(f, inst);
    switch (inst->op) {
    case IR_OP_IF:
        for (int b = 0; b < 2; b++) search_yields(f, inst->blocks[b], v->index);
        search_condition(f, inst->operands[0]);
        break;
    case IR_OP_AND:
    case IR_OP_OR:
    case IR_OP_XOR:
    case IR_OP_NOT:
    case IR_OP_SELECT:
    case IR_OP_ZEXT:
    case IR_OP_SEXT:
    case IR_OP_ITRUNC:
    case IR_OP_IEQ:
    case IR_OP_INE:
        for (uint32_t i = 0; i < inst->n_operands; i++) search_condition(f, inst->operands[i]);
        break;
    default: break;
    }
}

/* ---- indices within borders ---- */

/* The comparison under which a minimum or maximum of two is its first operand; IR_OP_COUNT: it is none. */
static enum ir_op first_where(enum ir_op op)
{
    switch (op) {
    case IR_OP_SMIN: return IR_OP_SLE;
    case IR_OP_SMAX: return IR_OP_SGE;
    case IR_OP_UMIN: return IR_OP_ULE;
    case IR_OP_UMAX: return IR_OP_UGE;
    default: return IR_OP_COUNT;
    }
}

static void add_minimum(struct finder *f, const struct ir_inst *inst)
{
    struct row_test test;
    const struct ir_value *a = inst->operands[0], *b = inst->operands[1];
    unsigned first = moves_evenly(f, chosen(f, a)) ? 0 : 1;
    if (!make_test(f, first_where(inst->op), first ? b : a, first ? a : b, &test)) return;
    add_test(f, test, TRUE_WANTED);
    f->found.assumed[inst->scratch].same = inst->operands[first];
}

static void add_clamp(struct finder *f, const struct ir_inst *inst)
{
    struct row_test low, high;
    bool is_signed = inst->op == IR_OP_SCLAMP;
    if (!moves_evenly(f, chosen(f, inst->operands[0])) ||
        !make_test(f, is_signed ? IR_OP_SGE : IR_OP_UGE, inst->operands[0], inst->operands[1], &low) ||
        !make_test(f, is_signed ? IR_OP_SLE : IR_OP_ULE, inst->operands[0], inst->operands[2], &high))
        return;
    add_test(f, low, TRUE_WANTED);
    add_test(f, high, TRUE_WANTED);
    f->found.assumed[inst->scratch].same = inst->operands[0];
}

/* x < n ? x : n - 1 and its like. */
static void add_select(struct finder *f, const struct ir_inst *inst)
{
    const struct ir_value *c = inst->operands[0];
    struct row_test test;
    if (c->kind != IR_VALUE_RESULT || !op_is_comparison(c->of.inst->op) || c->of.inst->n_operands != 2) return;
    const struct ir_inst *comparison = c->of.inst;
    bool even[2] = {moves_evenly(f, chosen(f, inst->operands[1])), moves_evenly(f, chosen(f, inst->operands[2]))};
    if (even[0] == even[1] || row_test_is_equality(comparison->op)) return;
    if (!make_test(f, comparison->op, comparison->operands[0], comparison->operands[1], &test)) return;
    add_test(f, test, even[0] ? TRUE_WANTED : FALSE_WANTED);
    f->found.assumed[inst->scratch].same = inst->operands[even[0] ? 1 : 2];
}

/* What an index is made of: where it is kept within borders, they seldom matter. */
static void search_index(struct finder *f, const struct ir_value *v)
{
    if (v->kind != IR_VALUE_RESULT || f->searched[v->scratch] || !f->inside[v->of.inst->scratch]) return;
    if (ir_type_lanes(v->type) > 1 || f->shapes[v->scratch].kind != SHAPE_VARYING) return;
    f->searched[v->scratch] = true;
    const struct ir_inst *inst = v->of.inst;
    if (!(ir_op_info(inst->op)->flags & IR_FLAG_PURE)) return;
    for (uint32_t i = 0; i < inst->n_operands; i++) search_index(f, inst->operands[i]);
    if (f->finds_quotients) {
        if (row_test_is_quotient(inst->op)) add_quotient(f, inst);
        return;
    }
    switch (inst->op) {
    case IR_OP_SMIN:
    case IR_OP_SMAX:
    case IR_OP_UMIN:
    case IR_OP_UMAX: add_minimum(f, inst); break;
    case IR_OP_SCLAMP:
    case IR_OP_UCLAMP: add_clamp(f, inst); break;
    case IR_OP_SELECT: add_select(f, inst); break;
    default: break;
    }
}

static void search_element(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_ELEM) search_index(data, inst->operands[1]);
}

/* One of each lane takes longer than what a cut row does, whatever it is for. */
static void search_division(struct ir_inst *inst, void *data)
{
    if (is_division(inst->op)) search_index(data, inst->results[0]);
}

/* ---- the instructions of a region ---- */

static void mark_inside(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    f->inside[inst->scratch] = true;
}

static void see_exit(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_RETURN || inst->op == IR_OP_BREAK || inst->op == IR_OP_CONTINUE) *(bool *)data = true;
}

/* What an if decides about: its branches, and what follows it where one of them leads elsewhere. */
static uint64_t cost_of_decision(const struct finder *f, const struct ir_inst *inst)
{
    bool leaves = false;
    uint64_t cost = cost_of(inst);
    for (int b = 0; b < 2; b++) ir_walk(inst->blocks[b], see_exit, &leaves);
    for (const struct ir_inst *i = inst->next; leaves && i && f->inside[i->scratch]; i = i->next) cost += cost_of(i);
    return cost * rounds_of(f, inst);
}

/* Small ifs stay as they are, under masks: the more a row is cut, the more of it runs under masks. */
static void search_if(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    if (inst->op != IR_OP_IF || !f->e->values->uniformity.divergent[inst->scratch]) return;
    if (cost_of_decision(f, inst) * SHARE >= f->total) search_condition(f, inst->operands[0]);
}

static void walk_region(const struct ir_inst *first, const struct ir_inst *end,
                        void (*see)(struct ir_inst *inst, void *data), struct finder *f)
{
    for (const struct ir_inst *i = first; i && i != end; i = i->next) {
        see((struct ir_inst *)i, f);
        for (int b = 0; b < 2; b++)
            if (i->blocks[b]) ir_walk(i->blocks[b], see, f);
    }
}

/* What follows goes by what is known where they stay the same. */
static void find_quotients(struct finder *f, const struct ir_inst *first, const struct ir_inst *end)
{
    f->finds_quotients = true;
    walk_region(first, end, search_element, f);
    walk_region(first, end, search_division, f);
    f->finds_quotients = false;
    uint32_t n = f->e->values->uniformity.n_values;
    memset(f->searched, 0, n * sizeof *f->searched);
    if (!f->found.n) return;
    memset(f->computable, 0, n * sizeof *f->computable);
    uniformity_find_where(&f->found.sides, f->e->arena, f->e->kernel, TOGETHER_ROW, f->found.assumed);
    f->shapes = f->found.sides.values;
}

struct row_tests row_tests_find(struct emit *e, const struct ir_inst *first, const struct ir_inst *end,
                                enum together along)
{
    const struct uniformity *u = &e->values->uniformity;
    struct finder f = {.e = e};
    f.inside = arena_alloc(e->arena, u->n_insts * sizeof *f.inside);
    f.found.assumed = arena_alloc(e->arena, u->n_insts * sizeof *f.found.assumed);
    f.found.known = arena_alloc(e->arena, u->n_insts * sizeof *f.found.known);
    f.computable = arena_alloc(e->arena, u->n_values * sizeof *f.computable);
    f.searched = arena_alloc(e->arena, u->n_values * sizeof *f.searched);
    f.listed = arena_alloc(e->arena, u->n_values * sizeof *f.listed);
    walk_region(first, end, mark_inside, &f);
    for (const struct ir_inst *i = first; i && i != end; i = i->next) f.total += cost_of(i);
    f.found.sides = *u;
    f.shapes = u->values;
    if (along == TOGETHER_ROW) find_quotients(&f, first, end);
    walk_region(first, end, search_element, &f);
    walk_region(first, end, search_if, &f);
    for (uint32_t i = 0; i < f.found.n_groups; i++) complete_group(&f, &f.found.groups[i]);
    if (f.found.n) uniformity_find_where(&f.found.uniformity, e->arena, e->kernel, along, f.found.assumed);
    return f.found;
}

/* ---- where a row is cut ---- */

/* As 32 bits, too: it is far smaller. */
static bool is_local_id(const struct ir_value *v)
{
    while (v->kind == IR_VALUE_RESULT && v->of.inst->op == IR_OP_ITRUNC) v = v->of.inst->operands[0];
    return v->kind == IR_VALUE_RESULT && v->of.inst->op == IR_OP_LOCAL_ID;
}

static bool spares_vectors(const struct emit *e, const struct row_test *t)
{
    const struct ir_value *limit = t->sides[1 - t->moves];
    if (t->carried || t->wanted != ANY_OUTCOME || !is_local_id(t->sides[t->moves])) return false;
    if (row_test_is_quotient(t->op)) return row_test_divisor(t) && row_test_divisor(t) % e->width == 0;
    if (limit->kind != IR_VALUE_CONST || limit->of.lanes[0] % e->width != 0) return false;
    switch (t->op) {
    case IR_OP_SLT:
    case IR_OP_SGE:
    case IR_OP_ULT:
    case IR_OP_UGE: return t->moves == 0;
    case IR_OP_SGT:
    case IR_OP_SLE:
    case IR_OP_UGT:
    case IR_OP_ULE: return t->moves == 1;
    default: return false;
    }
}

bool row_tests_spare_vectors(const struct emit *e, const struct row_tests *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!spares_vectors(e, &t->tests[i])) return false;
    return true;
}
