/*
 * Sums of bytes in loops, as filters of pictures have them: `sum += convert_float4(pixel)` in one loop or several
 * nested ones. A sum of at most 257 bytes is less than 2^16, so floats that add bytes never round, and any other way to
 * add them gives the same bits. So pixels of four bytes are added as words of which each half has a sum, and all others
 * as 16-bit numbers: a quarter to a half of the work. How many bytes there are the bounds of the loops tell, mostly
 * when the kernel runs; for larger numbers the loop stays as it was.
 */
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/loops/copy_insts.h"
#include "fuser/passes/loops/loop_range.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/base/arena.h"
#include "ir/core/facts.h"

enum { MOST_BYTES = 65535 / 255, MOST_ROUNDS = 256, MOST_LOOPS = 4, MOST_INSTS = 100, MAX_DEPTH = 8 };
enum { WORD_BYTES = 4, EVEN_BYTES = 0x00ff00ff };

/* A loop, and its values that are sums of bytes so far. */
struct sums {
    struct ir_inst *loop;
    bool *are; /* by number */
    bool grew, fails;
    uint32_t n_added; /* bytes, in a round of all loops */
    unsigned n_loops; /* around what adds them */
    struct nest {
        const struct ir_inst *loop;
        struct loop_range range;
    } nest[MOST_LOOPS];
};

/* ---- what is a sum ---- */

/* An element's bytes as a number of the sum's type; NULL: it is something else. */
static struct ir_value *bytes_of(const struct ir_value *v)
{
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    if (!inst || (inst->op != IR_OP_UTOF && inst->op != IR_OP_ZEXT)) return NULL;
    return ir_type_kind(inst->operands[0]->type) == IR_KIND_I8 ? inst->operands[0] : NULL;
}

static bool is_sum_type(ir_type t)
{
    return ir_type_kind(t) == IR_KIND_F32 || ir_type_kind(t) == IR_KIND_I32;
}

static bool is_sum(const struct sums *s, const struct ir_value *v)
{
    return v->scratch && s->are[v->scratch];
}

/* What an operand becomes where control goes on: a loop's parameter, or a result; NULL: nothing. */
static struct ir_value *carried_to(const struct ir_inst *inst, uint32_t k)
{
    switch (inst->op) {
    case IR_OP_LOOP: return inst->blocks[0]->args[k];
    case IR_OP_CONTINUE: return ir_terminator_target(inst)->blocks[0]->args[k];
    case IR_OP_BREAK:
    case IR_OP_YIELD: return ir_terminator_target(inst)->results[k];
    default: return NULL;
    }
}

/* The operand that bytes are added to, if it is one. */
static struct ir_value *added_to(const struct sums *s, const struct ir_inst *inst)
{
    if (inst->op != IR_OP_FADD && inst->op != IR_OP_ADD) return NULL;
    for (unsigned k = 0; k < 2; k++)
        if (is_sum(s, inst->operands[k]) && bytes_of(inst->operands[1 - k])) return inst->operands[k];
    return NULL;
}

static void take_in(struct sums *s, const struct ir_value *v)
{
    if (s->are[v->scratch]) return;
    s->are[v->scratch] = true;
    s->grew = true;
}

static void see_use(struct ir_inst *inst, void *data)
{
    struct sums *s = data;
    for (uint32_t k = 0; k < inst->n_operands; k++) {
        if (!is_sum(s, inst->operands[k])) continue;
        struct ir_value *to = carried_to(inst, k);
        if (to)
            take_in(s, to);
        else if (added_to(s, inst))
            take_in(s, inst->results[0]);
        else
            s->fails = true;
    }
}

/* Whether a sum may come from something else. */
static void see_source(struct ir_inst *inst, void *data)
{
    struct sums *s = data;
    for (uint32_t k = 0; k < inst->n_operands; k++) {
        const struct ir_value *to = carried_to(inst, k);
        if (to && is_sum(s, to) && !is_sum(s, inst->operands[k])) s->fails = true;
    }
}

static bool is_zero(const struct ir_value *v)
{
    if (v->kind != IR_VALUE_CONST) return false;
    for (unsigned c = 0; c < ir_type_lanes(v->type); c++)
        if (v->of.lanes[c]) return false;
    return true;
}

/* Follows what the loop carries there; whether all that comes of it are sums. */
static bool follow(struct sums *s, uint32_t index)
{
    struct ir_block *body = s->loop->blocks[0];
    take_in(s, body->args[index]);
    while (s->grew && !s->fails) {
        s->grew = false;
        ir_walk(body, see_use, s);
    }
    ir_walk(body, see_source, s);
    for (uint32_t k = 0; k < body->n_args; k++)
        if (is_sum(s, body->args[k]) && !is_zero(s->loop->operands[k])) s->fails = true;
    return !s->fails;
}

/* All sums that the loop carries. */
static bool find_sums(struct sums *s, uint32_t n_values)
{
    struct ir_block *body = s->loop->blocks[0];
    bool found = false, *before = arena_realloc(NULL, n_values * sizeof *before);
    for (uint32_t k = 0; k < body->n_args; k++) {
        if (is_sum(s, body->args[k]) || !is_sum_type(body->args[k]->type) || !is_zero(s->loop->operands[k])) continue;
        memcpy(before, s->are, n_values * sizeof *before);
        s->fails = false;
        if (follow(s, k))
            found = true;
        else
            memcpy(s->are, before, n_values * sizeof *before);
    }
    free(before);
    return found;
}

/* ---- how many bytes ---- */

static void see_added(struct ir_inst *inst, void *data)
{
    struct sums *s = data;
    if (!added_to(s, inst)) return;
    s->n_added++;
    for (const struct ir_inst *loop = ir_enclosing_loop(inst);; loop = ir_enclosing_loop(loop)) {
        unsigned i = 0;
        while (i < s->n_loops && s->nest[i].loop != loop) i++;
        if (i == s->n_loops && i < MOST_LOOPS) s->nest[s->n_loops++].loop = loop;
        s->fails = s->fails || i == MOST_LOOPS;
        if (loop == s->loop) return;
    }
}

/* Computed before the loop of what is the same for all work-items. */
static bool is_given(const struct ir_value *v, unsigned depth)
{
    if (v->kind <= IR_VALUE_PARAM) return true;
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    if (!inst || !depth || !pass_is_pure(inst) || ir_op_class(inst->op) == IR_CLASS_ND_RANGE) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!is_given(inst->operands[i], depth - 1)) return false;
    return true;
}

static bool find_range(const struct sums *s, struct nest *n)
{
    const struct ir_block *body = n->loop->blocks[0];
    for (uint32_t k = 0; k < body->n_args; k++) {
        const struct ir_value *counter = body->args[k];
        if (!ir_type_is_int(counter->type) || ir_type_lanes(counter->type) > 1 || ir_type_bits(counter->type) > 32)
            continue;
        if (!loop_range_find(counter, &n->range)) continue;
        const struct ir_value *ends[2] = {n->range.first, n->range.bound};
        bool given = true;
        for (int e = 0; e < 2; e++) given = given && is_given(ends[e], MAX_DEPTH) && !pass_is_inside(ends[e], s->loop);
        if (given) return true;
    }
    return false;
}

static bool find_nest(struct sums *s)
{
    ir_walk(s->loop->blocks[0], see_added, s);
    for (unsigned i = 0; i < s->n_loops && !s->fails; i++)
        if (!find_range(s, &s->nest[i])) s->fails = true;
    return s->n_loops && !s->fails;
}

static struct ir_value *both(struct ir_builder *b, struct ir_value *x, struct ir_value *y)
{
    return x ? ir_build2(b, IR_OP_AND, IR_BOOL, x, y) : y;
}

static struct ir_value *widened(struct ir_builder *b, const struct ir_value *v)
{
    return ir_build1(b, IR_OP_SEXT, IR_I64, (struct ir_value *)v);
}

/* Whether there are so few that their sum is less than 2^16. */
static struct ir_value *are_few(const struct sums *s, struct ir_builder *b)
{
    struct ir_module *m = b->module;
    struct ir_value *n = ir_const_int(m, IR_I64, s->n_added), *few = NULL;
    for (unsigned i = 0; i < s->n_loops; i++) {
        const struct loop_range *r = &s->nest[i].range;
        uint64_t last = (1ull << (ir_type_bits(r->bound->type) - 1)) - 1;
        struct ir_value *bound = widened(b, r->bound), *first = widened(b, r->first);
        struct ir_value *distance = ir_build2(b, IR_OP_SUB, IR_I64, bound, first);
        if (r->is_met) few = both(b, few, ir_build2(b, IR_OP_INE, IR_I64, distance, ir_const_int(m, IR_I64, 0)));
        few = both(b, few, ir_build2(b, IR_OP_ULT, IR_I64, distance, ir_const_int(m, IR_I64, MOST_ROUNDS)));
        few = both(b, few, ir_build2(b, IR_OP_SLE, IR_I64, bound, ir_const_int(m, IR_I64, last - r->step)));
        struct ir_value *rounds = ir_build2(b, IR_OP_UDIV, IR_I64, distance, ir_const_int(m, IR_I64, r->step));
        rounds = ir_build2(b, IR_OP_ADD, IR_I64, rounds, ir_const_int(m, IR_I64, 2));
        n = ir_build2(b, IR_OP_MUL, IR_I64, n, rounds);
    }
    return both(b, few, ir_build2(b, IR_OP_ULE, IR_I64, n, ir_const_int(m, IR_I64, MOST_BYTES)));
}

/* ---- narrower sums ---- */

/* What a sum is made of now: of words that of all bytes and that of the odd ones; else one number. */
struct parts {
    unsigned n;
    struct ir_value *v[2];
};

struct narrowing {
    struct sums s;
    struct parts *parts; /* by number */
};

static ir_type part_type(ir_type sum)
{
    unsigned lanes = ir_type_lanes(sum);
    return lanes == WORD_BYTES ? IR_I32 : IR_TYPE(IR_KIND_I16, lanes, 0);
}

static unsigned n_parts(ir_type sum)
{
    return ir_type_lanes(sum) == WORD_BYTES ? 2 : 1;
}

/* Four bytes as they lie in memory. */
static struct ir_value *word_of(struct ir_builder *b, struct ir_value *bytes)
{
    const struct ir_inst *inst = bytes->kind == IR_VALUE_RESULT ? bytes->of.inst : NULL;
    if (!inst || inst->op != IR_OP_LOAD || inst->attrs.is_volatile) return ir_build1(b, IR_OP_BITCAST, IR_I32, bytes);
    struct ir_builder there = ir_builder_before((struct ir_inst *)inst);
    there.loc = inst->loc;
    struct ir_inst *load = ir_build(&there, IR_OP_LOAD, IR_I32, inst->operands, inst->n_operands);
    load->attrs = inst->attrs;
    return load->results[0];
}

static void add_bytes(struct narrowing *w, struct ir_inst *add, const struct ir_value *sum)
{
    struct ir_builder b = ir_builder_before(add);
    struct parts *from = &w->parts[sum->scratch], *to = &w->parts[add->results[0]->scratch];
    struct ir_value *bytes = bytes_of(add->operands[add->operands[0] == sum]);
    ir_type t = part_type(sum->type);
    b.loc = add->loc;
    *to = *from;
    if (from->n == 1) {
        to->v[0] = ir_build2(&b, IR_OP_ADD, t, from->v[0], ir_build1(&b, IR_OP_ZEXT, t, bytes));
        return;
    }
    struct ir_value *word = word_of(&b, bytes);
    struct ir_value *odd = ir_build2(&b, IR_OP_LSHR, t, word, ir_const_int(b.module, t, 8));
    odd = ir_build2(&b, IR_OP_AND, t, odd, ir_const_int(b.module, t, EVEN_BYTES));
    to->v[0] = ir_build2(&b, IR_OP_ADD, t, from->v[0], word);
    to->v[1] = ir_build2(&b, IR_OP_ADD, t, from->v[1], odd);
}

/* A loop's parameters, and results of loops and ifs, that are sums get parts beside them. */
static void widen(struct narrowing *w, struct ir_inst *inst)
{
    uint32_t n_args = inst->op == IR_OP_LOOP ? inst->blocks[0]->n_args : 0, n_results = inst->n_results;
    for (uint32_t k = 0; k < n_args + n_results; k++) {
        struct ir_value *v = k < n_args ? inst->blocks[0]->args[k] : inst->results[k - n_args];
        if (!is_sum(&w->s, v)) continue;
        struct parts *p = &w->parts[v->scratch];
        ir_type t = part_type(v->type);
        p->n = n_parts(v->type);
        for (unsigned i = 0; i < p->n; i++)
            p->v[i] = k < n_args ? pass_arg_add(inst->blocks[0], t) : pass_result_add(inst, t);
    }
}

/* The parts go where the sums go. */
static void carry(struct narrowing *w, struct ir_inst *inst)
{
    uint32_t n = inst->n_operands;
    for (uint32_t k = 0; k < n; k++) {
        const struct ir_value *to = carried_to(inst, k);
        if (!to || !is_sum(&w->s, to)) continue;
        for (unsigned i = 0; i < n_parts(to->type); i++) {
            bool begins = inst == w->s.loop;
            struct ir_value *zero = ir_const_int(inst->parent->function->module, part_type(to->type), 0);
            pass_operand_add(inst, begins ? zero : w->parts[inst->operands[k]->scratch].v[i]);
        }
    }
}

static void narrow_inst(struct ir_inst *inst, void *data)
{
    struct narrowing *w = data;
    const struct ir_value *sum = added_to(&w->s, inst);
    carry(w, inst);
    if (inst->blocks[0]) widen(w, inst);
    if (sum) add_bytes(w, inst, sum);
}

/* The sum of its parts. */
static struct ir_value *whole(struct ir_builder *b, ir_type type, const struct parts *p)
{
    struct ir_module *m = b->module;
    bool is_float = ir_type_kind(type) == IR_KIND_F32;
    enum ir_op op = is_float ? IR_OP_UTOF : IR_OP_ZEXT;
    if (p->n == 1) return ir_build1(b, op, type, p->v[0]);
    ir_type words = IR_TYPE(IR_KIND_I32, WORD_BYTES, 0);
    struct ir_value *shifted = ir_build2(b, IR_OP_SHL, IR_I32, p->v[1], ir_const_int(m, IR_I32, 8));
    struct ir_value *halves[2] = {ir_build2(b, IR_OP_SUB, IR_I32, p->v[0], shifted), p->v[1]};
    struct ir_value *all = ir_const_int(m, words, 0);
    for (unsigned c = 0; c < WORD_BYTES; c++) {
        enum ir_op half = c < 2 ? IR_OP_AND : IR_OP_LSHR;
        struct ir_value *by = ir_const_int(m, IR_I32, c < 2 ? 0xffff : 16);
        struct ir_value *one = ir_build2(b, half, IR_I32, halves[c % 2], by);
        all = ir_build3(b, IR_OP_INSERT, words, all, one, ir_const_int(m, IR_I32, c));
    }
    return is_float ? ir_build1(b, op, type, all) : all;
}

/* ---- the change ---- */

static struct sums sums_of(struct ir_inst *loop, uint32_t n_values)
{
    struct sums s = {.loop = loop, .are = arena_realloc(NULL, n_values * sizeof *s.are)};
    memset(s.are, 0, n_values * sizeof *s.are);
    return s;
}

/* A loop in which sums are narrow. `values` become what its results are then. */
static void narrow(struct ir_inst *loop, struct ir_value **values)
{
    uint32_t n = pass_number(loop->parent->function), n_results = loop->n_results;
    struct narrowing w = {sums_of(loop, n), arena_realloc(NULL, n * sizeof *w.parts)};
    memset(w.parts, 0, n * sizeof *w.parts);
    find_sums(&w.s, n);
    narrow_inst(loop, &w);
    ir_walk(loop->blocks[0], narrow_inst, &w);
    struct ir_builder b = ir_builder_at_end(loop->parent);
    b.loc = loop->loc;
    for (uint32_t i = 0; i < n_results; i++) {
        struct ir_value *v = loop->results[i];
        values[i] = is_sum(&w.s, v) ? whole(&b, v->type, &w.parts[v->scratch]) : v;
    }
    free(w.s.are);
    free(w.parts);
}

/* The loop becomes `if (there are few bytes) { the same with narrow sums } else { the loop }`. */
static void divide(const struct sums *s, uint32_t n_values)
{
    struct ir_inst *loop = s->loop;
    struct ir_builder b = ir_builder_before(loop);
    struct ir_value **values = ir_alloc(b.module, (loop->n_results + 1) * sizeof *values);
    ir_type *types = ir_alloc(b.module, (loop->n_results + 1) * sizeof *types);
    struct pass_copy copy = {arena_realloc(NULL, n_values * sizeof *copy.to)};
    memset(copy.to, 0, n_values * sizeof *copy.to);
    b.loc = loop->loc;
    for (uint32_t i = 0; i < loop->n_results; i++) types[i] = loop->results[i]->type;
    struct ir_inst *few = ir_build_if(&b, are_few(s, &b), types, loop->n_results);
    for (uint32_t i = 0; i < loop->n_results; i++)
        ir_replace_uses(few->parent->function->body, loop->results[i], few->results[i]);
    struct ir_builder fast = ir_builder_at_end(few->blocks[0]), slow = ir_builder_at_end(few->blocks[1]);
    pass_copy_insts(&copy, &fast, loop, loop->next);
    fast.loc = slow.loc = loop->loc;
    free(copy.to);
    ir_inst_move_before(loop, ir_build(&slow, IR_OP_YIELD, IR_VOID, loop->results, loop->n_results));
    narrow(few->blocks[0]->first, values);
    ir_build(&fast, IR_OP_YIELD, IR_VOID, values, loop->n_results);
}

/* ---- the search ---- */

static void see_effect(struct ir_inst *inst, void *data)
{
    bool is_load = inst->op == IR_OP_LOAD && !inst->attrs.is_volatile;
    bool is_control = inst->op == IR_OP_IF || inst->op == IR_OP_LOOP;
    bool is_end = pass_is_terminator(inst) && inst->op != IR_OP_RETURN && inst->op != IR_OP_UNREACHABLE;
    if (!is_load && !is_control && !is_end && !pass_is_pure(inst)) *(bool *)data = true;
}

/* The loop that a narrow one stands beside. */
static bool is_divided(const struct ir_inst *loop)
{
    const struct ir_inst *few = loop->parent->parent;
    bool beside = few && few->op == IR_OP_IF && few->blocks[1] == loop->parent && !loop->prev;
    return beside && loop->next->op == IR_OP_YIELD && few->blocks[0]->first->op == IR_OP_LOOP;
}

static bool narrow_sums(struct ir_inst *loop)
{
    bool effects = is_divided(loop);
    ir_walk(loop->blocks[0], see_effect, &effects);
    if (effects || ir_count(loop->blocks[0]) > MOST_INSTS) return false;
    uint32_t n = pass_number(loop->parent->function);
    struct sums s = sums_of(loop, n);
    bool found = find_sums(&s, n);
    s.fails = false;
    found = found && find_nest(&s);
    if (found) divide(&s, n);
    free(s.are);
    return found;
}

static bool search_block(struct ir_block *block)
{
    bool changed = false;
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        next = inst->next;
        if (inst->op == IR_OP_LOOP && narrow_sums(inst)) {
            changed = true;
            continue;
        }
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) changed |= search_block(inst->blocks[b]);
    }
    return changed;
}

static bool run_byte_sums(struct ir_function *f)
{
    return search_block(f->body);
}

const struct pass pass_byte_sums = {"byte_sums", "sums of bytes are narrow where they are small", run_byte_sums};
