/*
 * Comparisons of ids in the conditions of ifs (index-set splitting). Where one side grows by a constant step along a
 * row and the other stays, how far the outcome stays the same is found by a subtraction: up to where the one passes the
 * other, or wraps. For the work-items up to there an `if` on such comparisons is a jump, whatever their number and
 * however they are combined.
 */
#include "fuser/cpu/work_group/row_tests.h"

#include "fuser/cpu/emit/instruction.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/simd/lanes.h"
#include "fuser/cpu/simd/op.h"

struct row_test {
    const struct ir_inst *inst;
    unsigned moves; /* the operand that grows along the row; the other stays */
    lval holds;     /* bool */
};

enum memo { UNSEEN, YES, NO };

struct finder {
    struct emit *e;
    struct row_tests found;
    bool *inside;              /* by instruction number: among those that are searched */
    unsigned char *computable; /* enum memo, by value number */
    bool *searched, *listed;   /* by value number */
    unsigned total;            /* cost of all */
};

/* ---- what depends on a condition ---- */

enum { MATH_COST = 16, LOOP_ROUNDS = 8, MOST_COST = 1 << 20, SHARE = 4 };

static unsigned cost_of_block(const struct ir_block *block);

static unsigned cost_of(const struct ir_inst *inst)
{
    unsigned cost = ir_op_class(inst->op) == IR_CLASS_MATH ? MATH_COST : 1;
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

/* ---- what can be computed before the row ---- */

static bool is_computable(struct finder *f, const struct ir_value *v);

/* From ids, arguments, and what is the work-group's. */
static bool find_computable(struct finder *f, const struct ir_value *v)
{
    if (value_shape(f->e, v).kind == SHAPE_VARYING) return false;
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : v->of.block->parent;
    if (!f->inside[inst->scratch]) return f->e->values->shared[v->scratch] != NULL;
    if (v->kind != IR_VALUE_RESULT) return false;
    bool id = ir_op_class(inst->op) == IR_CLASS_ND_RANGE;
    if (!id && !(ir_op_info(inst->op)->flags & IR_FLAG_PURE)) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!is_computable(f, inst->operands[i])) return false;
    return true;
}

static bool is_computable(struct finder *f, const struct ir_value *v)
{
    if (v->kind <= IR_VALUE_PARAM) return true;
    unsigned char *memo = &f->computable[v->scratch];
    if (*memo == UNSEEN) *memo = find_computable(f, v) ? YES : NO;
    return *memo == YES;
}

/* Adds what a value is computed of, operands first. */
static void need(struct finder *f, const struct ir_value *v)
{
    if (v->kind != IR_VALUE_RESULT || f->listed[v->scratch] || !f->inside[v->of.inst->scratch]) return;
    f->listed[v->scratch] = true;
    const struct ir_inst *inst = v->of.inst;
    for (uint32_t i = 0; i < inst->n_operands; i++) need(f, inst->operands[i]);
    f->found.needed = arena_grow(f->e->arena, f->found.needed, f->found.n_needed, sizeof *f->found.needed);
    f->found.needed[f->found.n_needed++] = inst;
}

/* ---- conditions ---- */

static enum shape_kind shape_kind_of(const struct emit *e, const struct ir_value *v)
{
    return v->kind < IR_VALUE_PARAM ? SHAPE_UNIFORM : value_shape(e, v).kind;
}

static bool moves_evenly(const struct emit *e, const struct ir_value *v)
{
    return shape_kind_of(e, v) == SHAPE_LINEAR && !value_shape(e, v).guarded;
}

static void add_comparison(struct finder *f, const struct ir_inst *inst)
{
    ir_type t = inst->operands[0]->type;
    if (ir_type_lanes(t) > 1 || ir_type_kind(t) < IR_KIND_I32 || ir_type_kind(t) > IR_KIND_I64) return;
    unsigned moves = moves_evenly(f->e, inst->operands[0]) ? 0 : 1;
    const struct ir_value *a = inst->operands[moves], *b = inst->operands[1 - moves];
    if (!moves_evenly(f->e, a) || shape_kind_of(f->e, b) != SHAPE_UNIFORM) return;
    if (!is_computable(f, a) || !is_computable(f, b)) return;
    need(f, a);
    need(f, b);
    f->found.tests = arena_grow(f->e->arena, f->found.tests, f->found.n, sizeof *f->found.tests);
    f->found.tests[f->found.n++] = (struct row_test){.inst = inst, .moves = moves};
}

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
    if (op_is_comparison(inst->op) && shape_kind_of(f->e, v) == SHAPE_VARYING) add_comparison(f, inst);
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

/* ---- the instructions of a region ---- */

static void mark_inside(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    f->inside[inst->scratch] = true;
}

/* Small ifs stay as they are, under masks: the more a row is cut, the more of it runs under masks. */
static void search_if(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    if (inst->op != IR_OP_IF || !f->e->values->uniformity.divergent[inst->scratch]) return;
    if (cost_of(inst) * SHARE >= f->total) search_condition(f, inst->operands[0]);
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

/* The kernel's uniformity where each comparison comes to the same. */
static void assume(struct finder *f)
{
    struct emit *e = f->e;
    const struct uniformity *u = &e->values->uniformity;
    bool *same = arena_alloc(e->arena, u->n_insts * sizeof *same);
    f->found.known = arena_alloc(e->arena, u->n_insts * sizeof *f->found.known);
    for (uint32_t i = 0; i < f->found.n; i++) {
        struct row_test *t = &f->found.tests[i];
        same[t->inst->scratch] = true;
        f->found.known[t->inst->scratch] = t->holds = jit_local(e, jit_type(e, IR_KIND_BOOL));
    }
    uniformity_find_where(&f->found.uniformity, e->arena, e->kernel, TOGETHER_ROW, same);
}

struct row_tests row_tests_find(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    const struct uniformity *u = &e->values->uniformity;
    struct finder f = {.e = e};
    f.inside = arena_alloc(e->arena, u->n_insts * sizeof *f.inside);
    f.computable = arena_alloc(e->arena, u->n_values * sizeof *f.computable);
    f.searched = arena_alloc(e->arena, u->n_values * sizeof *f.searched);
    f.listed = arena_alloc(e->arena, u->n_values * sizeof *f.listed);
    walk_region(first, end, mark_inside, &f);
    for (const struct ir_inst *i = first; i && i != end; i = i->next) f.total += cost_of(i);
    walk_region(first, end, search_if, &f);
    if (f.found.n) assume(&f);
    return f.found;
}

/* ---- along a row ---- */

/* A comparison a < b, or a <= b (strict: the former) of unsigned numbers, a growing by `step`; and its opposites. How
   many times the step may be taken until it comes to something else, or the number wraps. */
static rval steps_until_passed(struct emit *e, enum ir_kind kind, bool strict, rval a, rval b, int64_t step)
{
    rval one = jit_int(e, kind, 1), limit;
    rval below = jit_compare(e, strict ? GCC_JIT_COMPARISON_LT : GCC_JIT_COMPARISON_LE, a, b);
    if (step > 0) {
        limit = jit_select(e, below, strict ? jit_sub(e, b, one) : b, jit_int(e, kind, UINT64_MAX));
        limit = jit_sub(e, limit, a);
    } else {
        limit = jit_select(e, below, jit_int(e, kind, 0), strict ? b : jit_add(e, b, one));
        limit = jit_sub(e, a, limit);
    }
    return limit;
}

/* The same of a == b and a != b. */
static rval steps_until_met(struct emit *e, enum ir_kind kind, rval a, rval b, int64_t step)
{
    rval distance = step > 0 ? jit_sub(e, b, a) : jit_sub(e, a, b), zero = jit_int(e, kind, 0);
    distance = jit_read(jit_keep(e, distance));
    rval met = jit_compare(e, GCC_JIT_COMPARISON_EQ, distance, zero);
    return jit_select(e, met, zero, jit_sub(e, distance, jit_int(e, kind, 1)));
}

static rval steps_alike(struct emit *e, const struct row_test *t, const struct lanes *moving, const struct lanes *fixed)
{
    enum ir_op op = t->inst->op;
    enum ir_kind kind = moving->kind;
    rval a = moving->scalar, b = fixed->scalar, steps;
    if (op == IR_OP_IEQ || op == IR_OP_INE) {
        steps = steps_until_met(e, kind, a, b, moving->stride);
    } else {
        bool is_unsigned = ir_op_info(op)->flags & IR_FLAG_UNSIGNED;
        rval lowest = jit_int(e, kind, is_unsigned ? 0 : 1ull << (kind_bytes(kind) * 8 - 1));
        /* a < b is not a >= b; b < a is not a <= b */
        bool strict = op == IR_OP_SLT || op == IR_OP_ULT || op == IR_OP_SGE || op == IR_OP_UGE;
        if (t->moves == 1) strict = !strict;
        a = jit_read(jit_keep(e, jit_add(e, a, lowest)));
        b = jit_read(jit_keep(e, jit_add(e, b, lowest)));
        steps = steps_until_passed(e, kind, strict, a, b, moving->stride);
    }
    steps = jit_cast(e, steps, jit_type(e, IR_KIND_I64));
    uint64_t size = moving->stride < 0 ? 0 - (uint64_t)moving->stride : (uint64_t)moving->stride;
    if (size != 1) steps = jit_binary(e, GCC_JIT_BINARY_OP_DIVIDE, steps, jit_int(e, IR_KIND_I64, size));
    return jit_read(jit_keep(e, steps));
}

rval row_tests_evaluate(struct emit *e, const struct row_tests *t, rval left)
{
    for (uint32_t i = 0; i < t->n_needed; i++) emit_instruction(e, t->needed[i]);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct row_test *test = &t->tests[i];
        struct lanes a = *emit_value(e, test->inst->operands[0]), b = *emit_value(e, test->inst->operands[1]);
        struct lanes first[2] = {lanes_uniform(a.kind, a.scalar), lanes_uniform(b.kind, b.scalar)};
        struct lanes holds = op2(e, test->inst->op, IR_KIND_BOOL, first[0], first[1]);
        jit_set(e, test->holds, holds.scalar);
        left = jit_min(e, left, test->moves ? steps_alike(e, test, &b, &a) : steps_alike(e, test, &a, &b));
    }
    return left;
}
