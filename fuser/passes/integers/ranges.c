/*
 * Which numbers integers can be, from ids, constants, enclosing conditions and the rounds of loops; and what follows:
 * conversions that change nothing (widen.h), sums that look like something else (low_bits.h), and comparisons with one
 * outcome.
 */
#include "fuser/passes/integers/ranges.h"

#include <stdlib.h>

#include "fuser/passes/integers/low_bits.h"
#include "fuser/passes/integers/rotation.h"
#include "fuser/passes/integers/widen.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/base/arena.h"
#include "ir/core/facts.h"

enum { DEEPEST_GUESS = 3 }; /* loops around a loop whose parameters are guessed: that takes walks through its body */

/* What the rounds of a loop pass on, with what is known where they do. */
struct carried {
    const struct ir_inst *loop;
    struct interval *of; /* by parameter; those of a round that goes on */
    bool any;
    struct carried *outer;
};

struct ranges {
    struct known_ranges known;
    struct pass_map map;
    struct ir_module *module;
    unsigned loops; /* around where the walk is */
    bool holds;     /* what is known: not while it is tried out what does */
    bool changed;
    known_ranges_visit *visit; /* is told of each instruction, none of which changes; NULL: they are rewritten */
    void *data;
    struct carried *carried; /* of the loops around where the walk is; only for visits */
};

static void walk(struct ranges *r, const struct ir_block *block);

static void set(struct ranges *r, const struct ir_value *v, struct interval range)
{
    if (v->scratch && known_range_is_int(v->type)) r->known.of[v->scratch] = range;
}

/* ---- joins ---- */

/* What all terminators of an op bring to their target, number by number. */
struct joins {
    const struct ranges *r;
    const struct ir_inst *target;
    enum ir_op op;
    bool any;
    struct interval *of;
};

static void see_terminator(struct ir_inst *inst, void *data)
{
    struct joins *j = data;
    if (inst->op != j->op || ir_terminator_target(inst) != j->target) return;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (!known_range_is_int(inst->operands[i]->type)) continue;
        struct interval range = known_range(&j->r->known, inst->operands[i]);
        j->of[i] = j->any ? interval_union(j->of[i], range) : range;
    }
    j->any = true;
}

/* n numbers; `of` is the caller's to free. One walk finds them all: there are large bodies, and many numbers. */
static struct joins joined(const struct ranges *r, const struct ir_inst *target, enum ir_op op, uint32_t n)
{
    struct joins j = {.r = r, .target = target, .op = op, .of = arena_realloc(NULL, (n + 1) * sizeof *j.of)};
    for (int b = 0; b < 2; b++)
        if (n && target->blocks[b]) ir_walk(target->blocks[b], see_terminator, &j);
    return j;
}

static void join_results(struct ranges *r, const struct ir_inst *inst, enum ir_op op)
{
    struct joins j = joined(r, inst, op, inst->n_results);
    for (uint32_t i = 0; i < inst->n_results; i++) {
        if (!known_range_is_int(inst->results[i]->type)) continue;
        set(r, inst->results[i], j.any ? j.of[i] : interval_all(ir_type_bits(inst->results[i]->type)));
    }
    free(j.of);
}

/* ---- loops ---- */

/* What a parameter of a loop may be: what is tried, one after the other. The last one always holds. */
enum guess { UP_TO_END, NOT_BELOW_START, NOT_ABOVE_START, ANYTHING };

/* A number that a counter, or what it becomes, is compared with: where it ends, perhaps. */
struct end {
    const struct ir_value *counter;
    bool found;
    int64_t number;
};

static bool counts(const struct ir_value *v, const struct ir_value *counter)
{
    return v == counter ||
           (v->kind == IR_VALUE_RESULT && v->of.inst->op == IR_OP_ADD && v->of.inst->operands[0] == counter);
}

static void see_comparison(struct ir_inst *inst, void *data)
{
    struct end *end = data;
    uint64_t bits;
    if (ir_op_class(inst->op) != IR_CLASS_COMPARISON || !counts(inst->operands[0], end->counter) ||
        !ir_value_uint(inst->operands[1], &bits))
        return;
    unsigned above = 64 - ir_type_bits(inst->operands[1]->type);
    end->number = (int64_t)(bits << above) >> above;
    end->found = true;
}

static bool find_end(const struct ir_inst *loop, uint32_t i, struct end *end)
{
    *end = (struct end){.counter = loop->blocks[0]->args[i]};
    if (known_range_is_int(end->counter->type)) ir_walk(loop->blocks[0], see_comparison, end);
    return end->found;
}

static struct interval guessed(const struct ranges *r, const struct ir_inst *loop, uint32_t i, enum guess guess)
{
    struct interval start = known_range(&r->known, loop->operands[i]);
    struct interval all = interval_all(ir_type_bits(loop->operands[i]->type));
    struct end end;
    if (guess == UP_TO_END && find_end(loop, i, &end) && end.number >= start.high)
        return (struct interval){start.low, end.number};
    if (guess == UP_TO_END || guess == NOT_BELOW_START) return (struct interval){start.low, all.high};
    return guess == NOT_ABOVE_START ? (struct interval){all.low, start.high} : all;
}

/* Whether what each round passes on is what was guessed, where that is so of what it began with. */
static bool holds(const struct ranges *r, const struct ir_value *arg, bool any, const struct interval *passed)
{
    if (!any || !known_range_is_int(arg->type)) return true;
    struct interval range = known_range(&r->known, arg);
    return passed->low >= range.low && passed->high <= range.high;
}

/* The next guess where one did not hold; what only looks guesses more. */
static enum guess worse(const struct ranges *r, enum guess guess, unsigned tries)
{
    return guess == UP_TO_END && r->visit ? NOT_BELOW_START : tries > (r->visit ? 1 : 0) ? ANYTHING : NOT_ABOVE_START;
}

/* The next guesses where some did not hold; false: all did. */
static bool guess_again(const struct ranges *r, const struct ir_inst *loop, enum guess *guesses, unsigned tries)
{
    const struct ir_block *body = loop->blocks[0];
    const struct carried *c = r->carried;
    struct joins j = {.of = NULL};
    bool again = false;
    if (!c) j = joined(r, loop, IR_OP_CONTINUE, body->n_args);
    for (uint32_t i = 0; i < body->n_args; i++) {
        if (holds(r, body->args[i], c ? c->any : j.any, c ? &c->of[i] : &j.of[i])) continue;
        guesses[i] = worse(r, guesses[i], tries);
        again = true;
    }
    free(j.of);
    return again;
}

static void walk_with(struct ranges *r, const struct ir_inst *loop, const enum guess *guesses)
{
    const struct ir_block *body = loop->blocks[0];
    if (r->carried) r->carried->any = false;
    for (uint32_t i = 0; i < body->n_args; i++)
        if (known_range_is_int(body->args[i]->type)) set(r, body->args[i], guessed(r, loop, i, guesses[i]));
    walk(r, body);
}

/* What a continue brings: a sum is made of what is known here of its operands, which is more than where it was made. */
static void see_continue(struct ranges *r, const struct ir_inst *inst)
{
    struct carried *c = r->carried;
    while (c->loop != ir_terminator_target(inst)) c = c->outer;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct ir_value *v = inst->operands[i];
        struct interval range = known_range(&r->known, v);
        if (v->kind == IR_VALUE_RESULT && v->of.inst->op == IR_OP_ADD && known_range_is_int(v->type)) {
            struct interval sum = known_range_of_inst(&r->known, v->of.inst);
            range = (struct interval){sum.low > range.low ? sum.low : range.low,
                                      sum.high < range.high ? sum.high : range.high};
        }
        c->of[i] = c->any ? interval_union(c->of[i], range) : range;
    }
    c->any = true;
}

/* Guesses and walks through the body until all guesses hold; too deep inside of loops nothing is guessed. */
static void walk_loop(struct ranges *r, const struct ir_inst *loop)
{
    uint32_t n = loop->blocks[0]->n_args;
    enum guess *guesses = arena_realloc(NULL, (n + 1) * sizeof *guesses);
    bool is_known = r->holds, settled = false;
    for (uint32_t i = 0; i < n; i++)
        guesses[i] = r->loops >= DEEPEST_GUESS ? ANYTHING : r->visit ? UP_TO_END : NOT_BELOW_START;
    struct carried carried = {.loop = loop, .outer = r->carried};
    carried.of = arena_realloc(NULL, (n + 1) * sizeof *carried.of);
    if (r->visit) r->carried = &carried;
    r->loops++;
    r->holds = false;
    for (unsigned tries = 0; !settled; tries++) {
        walk_with(r, loop, guesses);
        settled = !guess_again(r, loop, guesses, tries);
    }
    r->holds = is_known;
    if (is_known) walk_with(r, loop, guesses);
    r->loops--;
    r->carried = carried.outer;
    free(carried.of);
    free(guesses);
    join_results(r, loop, IR_OP_BREAK);
}

/* ---- the walk ---- */

static void walk_assuming(struct ranges *r, const struct ir_block *block, const struct ir_value *condition, bool holds)
{
    uint32_t before = r->known.n_changes;
    known_ranges_assume(&r->known, condition, holds);
    walk(r, block);
    known_ranges_undo(&r->known, before);
}

/* Behind an if one of whose blocks goes elsewhere, its condition is that of the other one. */
static void walk_if(struct ranges *r, const struct ir_inst *inst)
{
    const struct ir_value *condition = inst->operands[0];
    for (int b = 0; b < 2; b++) walk_assuming(r, inst->blocks[b], condition, b == 0);
    join_results(r, inst, IR_OP_YIELD);
    for (int b = 0; b < 2; b++)
        if (inst->blocks[b]->last->op != IR_OP_YIELD) known_ranges_assume(&r->known, condition, b == 1);
}

static struct ir_value *known_outcome(const struct ranges *r, const struct ir_inst *inst)
{
    if (!known_range_is_int(inst->operands[0]->type)) return NULL;
    struct interval a = known_range(&r->known, inst->operands[0]), b = known_range(&r->known, inst->operands[1]);
    int outcome = interval_compare(inst->op, a, b);
    return outcome < 0 ? NULL : ir_const_bool(r->module, outcome);
}

/* What takes the place of the instruction; NULL: it stays. */
static struct ir_value *rewritten(const struct ranges *r, struct ir_inst *inst)
{
    struct ir_value *rotation = rotation_inst(inst);
    if (rotation) return rotation;
    if (!known_range_is_int(inst->results[0]->type))
        return ir_op_class(inst->op) == IR_CLASS_COMPARISON ? known_outcome(r, inst) : NULL;
    struct ir_value *v = widen_inst(&r->known, inst);
    return v ? v : low_bits_inst(inst);
}

static void walk_inst(struct ranges *r, struct ir_inst *inst)
{
    if (inst->op == IR_OP_IF) walk_if(r, inst);
    if (inst->op == IR_OP_LOOP) walk_loop(r, inst);
    if (inst->op == IR_OP_CONTINUE && r->carried) see_continue(r, inst);
    bool is_plain = inst->n_results == 1 && !inst->blocks[0];
    if (is_plain && known_range_is_int(inst->results[0]->type))
        set(r, inst->results[0], known_range_of_inst(&r->known, inst));
    if (r->holds && r->visit) r->visit(&r->known, inst, r->data);
    struct ir_value *v = is_plain && r->holds && !r->visit ? rewritten(r, inst) : NULL;
    if (!v) return;
    pass_map_set(&r->map, inst->results[0], v);
    ir_inst_remove(inst);
    r->changed = true;
}

static void walk(struct ranges *r, const struct ir_block *block)
{
    uint32_t before = r->known.n_changes;
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        next = inst->next;
        walk_inst(r, inst);
    }
    known_ranges_undo(&r->known, before);
}

/* Parameters may be anything. */
static void run(struct ranges *r, struct ir_function *f)
{
    uint32_t n = pass_number(f);
    r->module = f->module;
    r->holds = true;
    pass_map_init(&r->map, f);
    r->known.of = arena_realloc(NULL, n * sizeof *r->known.of);
    for (uint32_t i = 0; i < f->n_params; i++)
        set(r, f->params[i].value, interval_all(ir_type_bits(f->params[i].value->type)));
    walk(r, f->body);
    if (r->changed) pass_map_all(&r->map, f);
    pass_map_clear(&r->map);
    free(r->known.of);
    free(r->known.changes);
}

static bool run_ranges(struct ir_function *f)
{
    struct ranges r = {.visit = NULL};
    run(&r, f);
    return r.changed;
}

void known_ranges_walk(struct ir_function *f, known_ranges_visit *visit, void *data)
{
    struct ranges r = {.visit = visit, .data = data};
    run(&r, f);
}

const struct pass pass_ranges = {"ranges", "conversions and comparisons of integers in known bounds", run_ranges};
