/*
 * Rounds of loops. A counter goes from where it begins to what it is compared with, by its steps:
 *
 *     for (k = 0; k < 64; k++)           64
 *     for (d = 128; d > 0; d >>= 1)      8      by halves, doubles or what multiplies
 *     for (j = id; j < 1024; j += 256)   4      from nobody knows where: ids begin at 0
 *
 * Where the ends are not known, a number is assumed, and a smaller one for counters that go by halves.
 */
#include "fuser/cost/cost.h"

enum { ASSUMED_ROUNDS = 256, ASSUMED_HALVES = 8, MOST = 1 << 30, BITS = 64 };

static bool is_constant(const struct ir_value *v)
{
    return v->kind == IR_VALUE_CONST && ir_type_is_int(v->type) && !ir_type_is_vector(v->type);
}

/* Constants are kept in the lowest bits of 64; counters may start below 0. */
static int64_t number_of(const struct ir_value *v)
{
    unsigned above = 64 - ir_type_bits(v->type);
    return (int64_t)(v->of.lanes[0] << above) >> above;
}

/* Without conversions between integers. */
static const struct ir_value *plain(const struct ir_value *v)
{
    while (v->kind == IR_VALUE_RESULT &&
           (v->of.inst->op == IR_OP_SEXT || v->of.inst->op == IR_OP_ZEXT || v->of.inst->op == IR_OP_ITRUNC))
        v = v->of.inst->operands[0];
    return v;
}

/* ---- steps ---- */

enum steps { STEPS_UNKNOWN, STEPS_EVEN, STEPS_TIMES, STEPS_PARTS };

struct step {
    enum steps kind;
    uint64_t by; /* what is added or taken away, by which is multiplied or divided */
};

/* The continue of the loop, if it has one only. */
static void find_next(const struct ir_block *block, const struct ir_inst **next, unsigned *n)
{
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (inst->op == IR_OP_CONTINUE) {
            *next = inst;
            ++*n;
        }
        for (int b = 0; b < 2 && inst->op != IR_OP_LOOP; b++)
            if (inst->blocks[b]) find_next(inst->blocks[b], next, n);
    }
}

/* What the loop's value is in the next round, made of it and a constant; NULL: something else. */
static const struct ir_inst *stepping(const struct ir_inst *loop, uint32_t counter)
{
    const struct ir_inst *next = NULL;
    unsigned n = 0;
    find_next(loop->blocks[0], &next, &n);
    if (n != 1) return NULL;
    const struct ir_value *v = plain(next->operands[counter]);
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    bool steps = inst && inst->n_operands == 2 && plain(inst->operands[0]) == loop->blocks[0]->args[counter] &&
                 is_constant(inst->operands[1]);
    return steps ? inst : NULL;
}

static uint64_t size_of(int64_t v)
{
    return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static struct step step_of(const struct ir_inst *inst)
{
    if (!inst) return (struct step){STEPS_UNKNOWN, 1};
    uint64_t by = size_of(number_of(inst->operands[1]));
    switch (inst->op) {
    case IR_OP_ADD:
    case IR_OP_SUB: return (struct step){STEPS_EVEN, by ? by : 1};
    case IR_OP_MUL: return (struct step){by > 1 ? STEPS_TIMES : STEPS_UNKNOWN, by};
    case IR_OP_SHL: return (struct step){by && by < BITS ? STEPS_TIMES : STEPS_UNKNOWN, by < BITS ? 1ull << by : 1};
    case IR_OP_UDIV:
    case IR_OP_SDIV: return (struct step){by > 1 ? STEPS_PARTS : STEPS_UNKNOWN, by};
    case IR_OP_LSHR:
    case IR_OP_ASHR: return (struct step){by && by < BITS ? STEPS_PARTS : STEPS_UNKNOWN, by < BITS ? 1ull << by : 1};
    default: return (struct step){STEPS_UNKNOWN, 1};
    }
}

/* ---- rounds ---- */

/* Steps from one number until it is at the other, or beyond it. */
static uint64_t steps_between(int64_t from, int64_t to, const struct step *s)
{
    uint64_t a = size_of(from), b = size_of(to), n = 0;
    if (s->kind == STEPS_EVEN || s->kind == STEPS_UNKNOWN) {
        uint64_t distance = from < to ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
        return distance / s->by + (distance % s->by != 0);
    }
    for (; n < BITS && (s->kind == STEPS_TIMES ? a < b : a > b); n++)
        a = s->kind == STEPS_TIMES ? a * s->by : a / s->by;
    return n;
}

/* Of a counter that is compared with `to`; 0: not known. */
static uint64_t rounds_until(const struct ir_value *from, const struct ir_value *to, const struct step *s)
{
    bool halves = s->kind == STEPS_TIMES || s->kind == STEPS_PARTS;
    if (is_constant(from) && is_constant(to)) return steps_between(number_of(from), number_of(to), s) + 1;
    if (halves) return ASSUMED_HALVES;
    if (is_constant(to) && s->kind == STEPS_EVEN && s->by > 1) return steps_between(0, number_of(to), s) + 1;
    return 0;
}

/* Rounds until the loop's value `counter`, or what it is next, is what it is compared with; 0: not known. */
static uint64_t rounds_of(const struct ir_inst *loop, uint32_t counter)
{
    const struct ir_block *body = loop->blocks[0];
    const struct ir_inst *next = stepping(loop, counter);
    struct step step = step_of(next);
    for (const struct ir_inst *inst = body->first; inst; inst = inst->next) {
        if (ir_op_class(inst->op) != IR_CLASS_COMPARISON) continue;
        for (int side = 0; side < 2; side++) {
            const struct ir_value *v = plain(inst->operands[side]), *to = inst->operands[1 - side];
            if (v != body->args[counter] && !(next && v == next->results[0])) continue;
            uint64_t n = rounds_until(loop->operands[counter], to, &step);
            if (n) return n;
        }
    }
    return 0;
}

uint64_t cost_rounds(const struct ir_inst *loop)
{
    for (uint32_t i = 0; i < loop->blocks[0]->n_args; i++) {
        uint64_t n = rounds_of(loop, i);
        if (n) return n < MOST ? n : MOST;
    }
    return ASSUMED_ROUNDS;
}
