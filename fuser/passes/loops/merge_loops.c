/*
 * Loops of equally many rounds that follow each other become one, where the second loads what the first stores: so the
 * grid-stride loops of kernels that were fused. A round of the second then comes before later rounds of the first. That
 * is the same where both touch the same places in the same round, and others in each other round: the place moves by
 * a counter that never comes back. That it does not wrap is known from memory: a round touches it there, and memory is
 * smaller than what the counter would have to go round.
 */
#include <stdlib.h>

#include "fuser/passes/alias.h"
#include "fuser/passes/loops/equal_loops.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/core/assumptions.h"

enum { MAX_EFFECTS = 64, MAX_SCALE = 4096 };

struct effects {
    const struct alias *alias;
    const struct tested_loop *loop;
    bool known; /* nothing is done but what is here, and none of it between the test and a round's end or beginning */
    unsigned n;
    struct effect {
        const struct ir_inst *inst;
        struct alias_place place;
    } list[MAX_EFFECTS];
};

/* ---- what a loop does ---- */

static const struct ir_inst *maker(const struct ir_value *v)
{
    return v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
}

/* Accesses stand where rounds do their work: before a test at the end, or behind one at the beginning. */
static bool is_in_place(const struct tested_loop *l, const struct ir_inst *inst)
{
    while (inst->parent != l->body) inst = inst->parent->parent;
    for (const struct ir_inst *i = l->body->first; i; i = i->next) {
        if (i == inst) return l->tests_last;
        if (i == l->test) return !l->tests_last;
    }
    return false;
}

static void see_effect(struct ir_inst *inst, void *data)
{
    struct effects *e = data;
    bool is_access = inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE;
    bool is_plain = pass_is_pure(inst) || inst->op == IR_OP_IF || inst->op == IR_OP_LOOP || pass_is_terminator(inst);
    if (ir_op_info(inst->op)->flags & IR_FLAG_CONVERGENT || !(is_access || is_plain)) e->known = false;
    if (!is_access || !e->known) return;
    if (inst->attrs.is_volatile || e->n == MAX_EFFECTS || !is_in_place(e->loop, inst)) {
        e->known = false;
        return;
    }
    struct alias_access access = alias_access(e->alias, inst);
    e->list[e->n++] = (struct effect){inst, inst->op == IR_OP_LOAD ? access.read : access.write};
}

static bool find_effects(const struct alias *alias, const struct tested_loop *l, struct effects *e)
{
    e->alias = alias;
    e->loop = l;
    e->known = true;
    e->n = 0;
    ir_walk(l->body, see_effect, e);
    return e->known;
}

/* ---- places that move with the rounds ---- */

static const struct ir_value *unextended(const struct ir_value *v)
{
    const struct ir_inst *inst = maker(v);
    return inst && (inst->op == IR_OP_SEXT || inst->op == IR_OP_ZEXT) ? inst->operands[0] : v;
}

/* v plus or minus what does not change in the loop; NULL: it is no such sum. */
static const struct ir_value *moved_from(const struct tested_loop *l, const struct ir_value *sum)
{
    const struct ir_inst *inst = maker(sum);
    if (!inst || (inst->op != IR_OP_ADD && inst->op != IR_OP_SUB)) return NULL;
    if (!pass_is_inside(inst->operands[1], l->loop)) return inst->operands[0];
    return inst->op == IR_OP_ADD && !pass_is_inside(inst->operands[0], l->loop) ? inst->operands[1] : NULL;
}

/* The parameter of the loop that grows, or falls, by the same amount each round, modulo its width. */
static bool is_counter(const struct tested_loop *l, const struct ir_value *v)
{
    if (v->kind != IR_VALUE_BLOCK_ARG || v->of.block != l->body) return false;
    const struct ir_value *next = l->next->operands[v->index];
    if (maker(next) && maker(next)->op == IR_OP_ITRUNC) next = maker(next)->operands[0];
    const struct ir_value *from = moved_from(l, next);
    return from && unextended(from) == v;
}

/* At most 2^47, whatever it is. */
static bool is_small(const struct ir_value *v)
{
    uint64_t n;
    const struct ir_inst *inst = maker(v);
    if (ir_value_uint(v, &n)) return n < IR_SMALL_MEMORY;
    if (!inst) return false;
    if (inst->op == IR_OP_SEXT || inst->op == IR_OP_ZEXT) return ir_type_bits(inst->operands[0]->type) <= 32;
    return ir_op_class(inst->op) == IR_CLASS_ND_RANGE;
}

/* The counter's amount does not go round when it is multiplied. */
static bool moves_little(const struct tested_loop *l, const struct ir_value *counter)
{
    const struct ir_inst *add = maker(l->next->operands[counter->index]);
    if (ir_type_bits(counter->type) == 32) return true;
    return add && (add->op == IR_OP_ADD || add->op == IR_OP_SUB) &&
           (is_small(add->operands[1]) || (add->op == IR_OP_ADD && is_small(add->operands[0])));
}

/* An index: the counter, with something constant added, in 64 bits perhaps times a constant. */
struct moving_index {
    const struct ir_value *counter; /* NULL: it is something else */
    uint64_t factor;
};

static struct moving_index index_of(const struct tested_loop *l, const struct ir_value *index)
{
    struct moving_index m = {.factor = 1};
    uint64_t n;
    for (const struct ir_inst *inst; index && index->type == IR_I64; index = inst->operands[0]) {
        inst = maker(index);
        if (!inst || (inst->op != IR_OP_MUL && inst->op != IR_OP_SHL) || !ir_value_uint(inst->operands[1], &n)) break;
        if (n >= (inst->op == IR_OP_MUL ? MAX_SCALE : 12)) return m;
        m.factor *= inst->op == IR_OP_MUL ? n : (uint64_t)1 << n;
        if (!m.factor || m.factor > MAX_SCALE) return m;
    }
    const struct ir_value *v = index ? unextended(index) : NULL, *from = v ? moved_from(l, v) : NULL;
    if (v && is_counter(l, v)) m.counter = v;
    if (from && is_counter(l, from)) m.counter = from;
    if (m.counter && !moves_little(l, m.counter)) m.counter = NULL;
    return m;
}

/* Whether the counter never comes back: each round touches a parameter's element of this number, or one shifted. */
static bool never_returns(const struct effects *e, const struct ir_value *counter, const struct ir_function *f)
{
    unsigned bits = ir_type_bits(counter->type);
    if (bits != 64 && !(bits == 32 && f->assumes & IR_ASSUME_SMALL_MEMORY)) return false;
    for (unsigned i = 0; i < e->n; i++) {
        const struct effect *x = &e->list[i];
        if (x->inst->parent == e->loop->body && x->place.root && x->place.root->kind == IR_VALUE_PARAM &&
            index_of(e->loop, x->place.index).counter == counter && !pass_is_inside(x->place.base, e->loop->loop))
            return true;
    }
    return false;
}

/* In a round of both loops the two are at one place, in different rounds apart. */
static bool meet_in_one_round(const struct effects *e, struct equal_loops *loops, const struct effect *x,
                              const struct effect *y, const struct ir_function *f)
{
    const struct alias_place *p = &x->place, *q = &y->place;
    struct moving_index m = index_of(loops->a, p->index);
    return m.counter && p->root && p->root->kind == IR_VALUE_PARAM && q->index && ir_value_same(p->base, q->base) &&
           !pass_is_inside(p->base, loops->a->loop) && p->scale == q->scale && p->offset == q->offset &&
           p->size == q->size && p->scale <= MAX_SCALE && p->size <= p->scale * m.factor &&
           equal_loops_same(loops, p->index, q->index) && never_returns(e, m.counter, f);
}

static bool may_merge(struct equal_loops *loops, const struct effects *first, const struct effects *second,
                      const struct ir_function *f)
{
    bool flows = false;
    for (unsigned i = 0; i < first->n; i++)
        for (unsigned k = 0; k < second->n; k++) {
            const struct effect *x = &first->list[i], *y = &second->list[k];
            bool stores = x->inst->op == IR_OP_STORE;
            if (!stores && y->inst->op != IR_OP_STORE) continue;
            if (!alias_may(first->alias, &x->place, &y->place)) continue;
            if (!meet_in_one_round(first, loops, x, y, f)) return false;
            flows |= stores && y->inst->op == IR_OP_LOAD && x->inst->type == y->inst->type;
        }
    return flows;
}

/* ---- merging ---- */

static bool is_counted(const struct equal_loops *loops, uint32_t arg, uint32_t *as)
{
    for (unsigned i = 0; i < loops->n; i++) {
        *as = loops->counters[i][0];
        if (loops->counters[i][1] == arg) return true;
    }
    return false;
}

/* What the second carries is carried by the first, but for counters that both have. */
static void carry(const struct equal_loops *loops)
{
    const struct tested_loop *a = loops->a, *b = loops->b;
    uint32_t as;
    for (uint32_t i = 0; i < b->body->n_args; i++) {
        bool counted = is_counted(loops, i, &as);
        struct ir_value *arg = counted ? a->body->args[as] : pass_arg_add(a->body, b->body->args[i]->type);
        ir_replace_uses(b->body, b->body->args[i], arg);
    }
    for (uint32_t i = 0; i < b->body->n_args; i++) {
        if (is_counted(loops, i, &as)) continue;
        pass_operand_add(a->loop, b->loop->operands[i]);
        pass_operand_add(a->next, b->next->operands[i]);
    }
    for (uint32_t i = 0; i < b->out->n_operands; i++) pass_operand_add(a->out, b->out->operands[i]);
    for (uint32_t i = 0; i < b->loop->n_results; i++) pass_result_adopt(a->loop, b->loop->results[i]);
}

static void move_up_to(struct ir_inst *first, const struct ir_inst *end, struct ir_inst *before)
{
    for (struct ir_inst *inst = first, *next; inst != end; inst = next) {
        next = inst->next;
        ir_inst_move_before(inst, before);
    }
}

static void merge(const struct equal_loops *loops)
{
    const struct tested_loop *a = loops->a, *b = loops->b;
    move_up_to(a->loop->next, b->loop, a->loop);
    carry(loops);
    move_up_to(b->body->first, b->test, a->test);
    move_up_to(b->test->next, b->body->last, a->body->last);
    ir_inst_remove(b->loop);
}

/* ---- the search ---- */

static bool uses_result_of(const struct ir_inst *inst, const struct ir_inst *maker)
{
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (inst->operands[i]->kind == IR_VALUE_RESULT && inst->operands[i]->of.inst == maker) return true;
    return false;
}

static bool needs_results(struct ir_block *block, const struct ir_inst *of)
{
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (uses_result_of(inst, of)) return true;
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b] && needs_results(inst->blocks[b], of)) return true;
    }
    return false;
}

/* The loop that comes next: only pure operations that do not need the first's results are in between. */
static struct ir_inst *find_partner(const struct ir_inst *first)
{
    for (struct ir_inst *inst = first->next; inst; inst = inst->next) {
        if (uses_result_of(inst, first)) return NULL;
        if (inst->op == IR_OP_LOOP) return needs_results(inst->blocks[0], first) ? NULL : inst;
        if (!pass_is_pure(inst)) return NULL;
    }
    return NULL;
}

static bool join(struct ir_function *f, const struct alias *alias, struct ir_inst *first)
{
    struct tested_loop a, b;
    struct equal_loops loops;
    struct effects effects[2];
    struct ir_inst *second = find_partner(first);
    if (!second || !tested_loop_read(first, &a) || !tested_loop_read(second, &b) || !equal_loops_find(&a, &b, &loops))
        return false;
    if (!find_effects(alias, &a, &effects[0]) || !find_effects(alias, &b, &effects[1])) return false;
    if (!may_merge(&loops, &effects[0], &effects[1], f)) return false;
    merge(&loops);
    return true;
}

static bool join_in_block(struct ir_function *f, const struct alias *alias, struct ir_block *block)
{
    bool changed = false;
    for (struct ir_inst *inst = block->first; inst; inst = inst->next) {
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) changed |= join_in_block(f, alias, inst->blocks[b]);
        while (inst->op == IR_OP_LOOP && join(f, alias, inst)) changed = true;
    }
    return changed;
}

static bool run_merge_loops(struct ir_function *f)
{
    struct alias alias;
    alias_init(&alias, f, pass_number(f));
    bool changed = join_in_block(f, &alias, f->body);
    alias_clear(&alias);
    return changed;
}

const struct pass pass_merge_loops = {"merge_loops", "equal loops, the second loading what the first stores",
                                      run_merge_loops};
