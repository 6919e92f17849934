/*
 * What the comparisons and quotients of a row come to. How far an outcome stays the same is found by a subtraction: up
 * to where the side that grows passes the one that stays, or wraps.
 */
#include "fuser/cpu/work_group/row_outcomes.h"

#include "fuser/cpu/emit/instruction.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/simd/lanes.h"

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

/* Of numbers that are not divided evenly: as far as to the last one of the type. */
static rval steps_until_wrapped(struct emit *e, const struct row_test *t, enum ir_kind kind, rval a, rval steps)
{
    uint64_t last = UINT64_MAX >> (64 - kind_bytes(kind) * 8 + !row_test_is_unsigned(t->op));
    return jit_min(e, steps, jit_sub(e, jit_int(e, kind, last), a));
}

static rval bits_of(struct emit *e, rval a, rval b)
{
    return jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, a, b);
}

/* How many times a may grow until a / b is another number. */
static rval steps_in_division(struct emit *e, const struct row_test *t, enum ir_kind kind, rval a, rval b, int64_t step)
{
    rval zero = jit_int(e, kind, 0), one = jit_int(e, kind, 1);
    rval divisor = jit_select(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, b, zero), one, b);
    rval rest = jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_MODULO, a, divisor)));
    rval steps = step > 0 ? jit_sub(e, jit_sub(e, divisor, one), rest) : rest;
    if (step > 0) steps = steps_until_wrapped(e, t, kind, a, steps);
    if (row_test_is_unsigned(t->op)) return steps;
    rval highest = jit_int(e, kind, 1ull << (kind_bytes(kind) * 8 - 1));
    rval sign = bits_of(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, a, b), highest);
    return jit_select(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, sign, zero), steps, zero);
}

/* The same where a power of two divides: of a mask that is none less one nothing is known. */
static rval steps_in_bits(struct emit *e, const struct row_test *t, enum ir_kind kind, rval a, rval b, int64_t step)
{
    rval one = jit_int(e, kind, 1), mask = b;
    if (t->op != IR_OP_AND) {
        b = bits_of(e, b, jit_int(e, kind, kind_bytes(kind) * 8 - 1));
        mask = jit_sub(e, jit_binary(e, GCC_JIT_BINARY_OP_LSHIFT, one, b), one);
    }
    mask = jit_read(jit_keep(e, mask));
    rval rest = bits_of(e, a, mask), more = bits_of(e, mask, jit_add(e, mask, one));
    rval is_mask = jit_compare(e, GCC_JIT_COMPARISON_EQ, more, jit_int(e, kind, 0));
    return jit_select(e, is_mask, step > 0 ? jit_sub(e, mask, rest) : rest, jit_int(e, kind, 0));
}

static rval steps_in_quotient(struct emit *e, const struct row_test *t, enum ir_kind kind, rval a, rval b, int64_t step)
{
    bool by_bits = t->op == IR_OP_AND || t->op == IR_OP_ASHR || t->op == IR_OP_LSHR;
    if (by_bits) return steps_in_bits(e, t, kind, a, b, step);
    return steps_in_division(e, t, kind, a, b, step);
}

static rval steps_alike(struct emit *e, const struct row_test *t, const struct lanes *moving, const struct lanes *fixed)
{
    enum ir_kind kind = moving->kind;
    rval a = moving->scalar, b = fixed->scalar, steps;
    if (row_test_is_equality(t->op)) {
        steps = steps_until_met(e, kind, a, b, moving->stride);
    } else if (row_test_is_quotient(t->op)) {
        steps = steps_in_quotient(e, t, kind, a, b, moving->stride);
    } else {
        bool is_unsigned = row_test_is_unsigned(t->op);
        rval lowest = jit_int(e, kind, is_unsigned ? 0 : 1ull << (kind_bytes(kind) * 8 - 1));
        /* a < b is not a >= b; b < a is not a <= b */
        bool strict = t->op == IR_OP_SLT || t->op == IR_OP_ULT || t->op == IR_OP_SGE || t->op == IR_OP_UGE;
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

/* What tests come to at one work-item and, of those that count with a loop, one value of its. */
struct outcome {
    rval holds;
    struct lanes moving; /* as a uniform value */
};

static void keep(struct emit *e, lval all, rval condition)
{
    jit_set(e, all, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_read(all), condition));
}

static rval compare(struct emit *e, enum ir_op op, struct lanes a, struct lanes b)
{
    return op2(e, op, IR_KIND_BOOL, a, b).scalar;
}

static struct outcome make_outcome(struct emit *e, const struct row_test *t, lval left)
{
    struct lanes a = *emit_value(e, t->sides[0]), b = *emit_value(e, t->sides[1]);
    rval steps = t->moves ? steps_alike(e, t, &b, &a) : steps_alike(e, t, &a, &b);
    jit_set(e, left, jit_min(e, jit_read(left), steps));
    a = lanes_uniform(a.kind, a.scalar);
    b = lanes_uniform(b.kind, b.scalar);
    if (row_test_is_quotient(t->op))
        return (struct outcome){.holds = t->holds ? op2(e, t->op, a.kind, a, b).scalar : NULL};
    return (struct outcome){compare(e, t->op, a, b), t->moves ? b : a};
}

/* alike: a bool that becomes false where a test does not come to the same all through its loop, or to what is wanted.
 */
static void see_outcomes(struct emit *e, const struct row_test *t, const struct outcome *at, lval alike)
{
    if (t->carried) {
        enum ir_op up = row_test_is_unsigned(t->op) ? IR_OP_ULE : IR_OP_SLE;
        keep(e, alike, compare(e, up, at[t->falls].moving, at[!t->falls].moving)); /* it does not wrap */
        keep(e, alike, jit_not(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_XOR, at[0].holds, at[1].holds)));
    }
    if (t->wanted != ANY_OUTCOME) keep(e, alike, t->wanted == TRUE_WANTED ? at[0].holds : jit_not(e, at[0].holds));
    if (t->holds) jit_set(e, t->holds, at[0].holds);
}

enum { LONGEST_COUNT = 1 << 20 };

/* The smallest and the largest value that a loop counts through. */
static void ends_of_range(struct emit *e, const struct row_test_group *g, struct lanes ends[2], lval alike)
{
    struct lanes first = *emit_value(e, g->range.first), bound = *emit_value(e, g->range.bound);
    enum ir_kind kind = first.kind;
    struct lanes last = op2(e, IR_OP_ADD, kind, bound, lanes_int(e, kind, g->range.step));
    struct lanes count = op2(e, IR_OP_SUB, kind, last, first);
    keep(e, alike, compare(e, g->range.is_met ? IR_OP_SLT : IR_OP_SLE, first, bound));
    keep(e, alike, compare(e, IR_OP_SLE, bound, last));
    keep(e, alike, compare(e, IR_OP_ULE, count, lanes_int(e, kind, LONGEST_COUNT)));
    ends[0] = first;
    ends[1] = last;
}

static void evaluate_group(struct emit *e, const struct row_tests *t, const struct row_test_group *g, lval left,
                           lval alike)
{
    struct outcome *at = arena_alloc(e->arena, 2 * t->n * sizeof *at);
    struct lanes *ends = arena_alloc(e->arena, 2 * sizeof *ends);
    for (uint32_t i = 0; i < g->n_of_range; i++) emit_instruction(e, g->needed[i]);
    if (g->carried) ends_of_range(e, g, ends, alike);
    for (int end = 0; end < (g->carried ? 2 : 1); end++) {
        if (g->carried) e->values->lanes[g->carried->scratch] = &ends[end];
        for (uint32_t i = g->n_of_range; i < g->n_needed; i++) emit_instruction(e, g->needed[i]);
        for (uint32_t i = 0; i < t->n; i++)
            if (t->tests[i].carried == g->carried) at[2 * i + end] = make_outcome(e, &t->tests[i], left);
    }
    for (uint32_t i = 0; i < t->n; i++)
        if (t->tests[i].carried == g->carried) see_outcomes(e, &t->tests[i], &at[2 * i], alike);
}

rval row_outcomes(struct emit *e, const struct row_tests *t, rval left)
{
    lval least = jit_keep(e, left), alike = jit_keep(e, jit_int(e, IR_KIND_BOOL, 1));
    struct uniformity before = e->values->uniformity;
    if (t->n) e->values->uniformity = t->sides;
    for (uint32_t i = 0; i < t->n_groups; i++) evaluate_group(e, t, &t->groups[i], least, alike);
    e->values->uniformity = before;
    return t->n ? jit_select(e, jit_read(alike), jit_read(least), jit_u64(e, 0)) : jit_read(least);
}

rval row_outcomes_never_last(struct emit *e, const struct row_tests *t)
{
    rval never = NULL;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct row_test *test = &t->tests[i];
        const struct ir_value *divisor = test->sides[1 - test->moves];
        if (!row_test_is_quotient(test->op) || divisor->kind != IR_VALUE_PARAM) continue;
        struct lanes v = *emit_value(e, divisor);
        bool shifts = test->op == IR_OP_ASHR || test->op == IR_OP_LSHR;
        uint64_t least = 2 * (uint64_t)e->width;
        rval few = jit_int(e, v.kind, shifts ? (uint64_t)__builtin_ctzll(least) : least);
        rval is_short = jit_compare(e, GCC_JIT_COMPARISON_LT, v.scalar, few);
        never = never ? jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, never, is_short) : is_short;
    }
    return never;
}
