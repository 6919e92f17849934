/*
 * Of several stores to one place, of which an if chooses, one is left behind the if:
 *
 *     if c { store p, a } else { store p, b }        x = if c { yield a } else { yield b }; store p, x
 *     store p, b; if c { store p, a }                x = if c { yield a } else { yield b }; store p, x
 *
 * The place is written on either way, before and after. A store goes down only where nothing that it passes may touch
 * the place or shows memory to others, so that nobody can tell when it was done.
 */
#include "fuser/passes/alias.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

enum { MOST_ACCESSES = 64, DEEPEST_ADDRESS = 8, WINDOW = 512 /* instructions looked through for a partner */ };

/* What stores on their way to a later point have to pass. */
struct passed {
    uint32_t n;
    bool closed; /* nothing gets by any more */
    struct alias_access access[MOST_ACCESSES];
};

struct sink {
    struct alias alias;
    bool changed;
};

/* ---- what is in the way ---- */

/* What is volatile keeps its place among all others. */
static struct alias_access access_of(const struct sink *s, const struct ir_inst *inst)
{
    if (inst->attrs.is_volatile) return (struct alias_access){.effect = ALIAS_SYNC};
    return alias_access(&s->alias, inst);
}

static bool gets_by(const struct sink *s, const struct passed *p, const struct alias_place *place)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (alias_touches(&s->alias, &p->access[i], place)) return false;
    return !p->closed;
}

static void note(const struct sink *s, struct passed *p, const struct ir_inst *inst)
{
    struct alias_access access = access_of(s, inst);
    if (access.effect > ALIAS_ACCESS || (access.effect == ALIAS_ACCESS && p->n == MOST_ACCESSES)) p->closed = true;
    if (access.effect == ALIAS_ACCESS && !p->closed) p->access[p->n++] = access;
    for (int b = 0; b < 2 && !p->closed; b++)
        for (const struct ir_inst *i = inst->blocks[b] ? inst->blocks[b]->first : NULL; i; i = i->next) note(s, p, i);
}

static bool is_plain_store(const struct ir_inst *inst)
{
    return inst->op == IR_OP_STORE && !inst->attrs.is_volatile;
}

static struct alias_place place_of(const struct sink *s, const struct ir_inst *store)
{
    return alias_access(&s->alias, store).write;
}

/* Nothing inside, or the instruction itself, holds up a store to the place. */
static bool lets_by(const struct sink *s, const struct ir_inst *inst, const struct alias_place *place)
{
    struct alias_access access = access_of(s, inst);
    if (access.effect > ALIAS_ACCESS || (access.effect == ALIAS_ACCESS && alias_touches(&s->alias, &access, place)))
        return false;
    for (int b = 0; b < 2; b++)
        for (const struct ir_inst *i = inst->blocks[b] ? inst->blocks[b]->first : NULL; i; i = i->next)
            if (!lets_by(s, i, place)) return false;
    return true;
}

/* It, or one inside it, may see what was in the place. */
static bool looks_at(const struct sink *s, const struct ir_inst *inst, const struct alias_place *place)
{
    struct alias_access access = access_of(s, inst);
    if (access.effect > ALIAS_ACCESS) return true;
    if (access.effect == ALIAS_ACCESS && access.reads && alias_may(&s->alias, place, &access.read)) return true;
    for (int b = 0; b < 2; b++)
        for (const struct ir_inst *i = inst->blocks[b] ? inst->blocks[b]->first : NULL; i; i = i->next)
            if (looks_at(s, i, place)) return true;
    return false;
}

/* From inst upwards, the first one that holds up a store to the place, or that is too far away; NULL: none is. */
static struct ir_inst *find_obstacle(const struct sink *s, struct ir_inst *inst, const struct alias_place *place)
{
    for (unsigned n = 0; inst && n < WINDOW && lets_by(s, inst, place); n++) inst = inst->prev;
    return inst;
}

static bool is_partner(const struct sink *s, const struct ir_inst *inst, const struct ir_inst *store)
{
    if (!inst || !is_plain_store(inst) || inst->type != store->type) return false;
    struct alias_place x = place_of(s, inst), y = place_of(s, store);
    return alias_must(&x, &y);
}

/* Whether one before inst in its block may see what was in the place. */
static bool is_seen_before(const struct sink *s, const struct ir_inst *inst, const struct alias_place *place)
{
    while ((inst = inst->prev))
        if (looks_at(s, inst, place)) return true;
    return false;
}

/* ---- addresses ---- */

static bool computes_address(const struct ir_inst *inst)
{
    return pass_is_pure(inst) && !(ir_op_info(inst->op)->flags & IR_FLAG_PARTIAL);
}

/* The value is there before the branch, or can be computed there. */
static bool can_be_outside(const struct ir_value *v, const struct ir_inst *branch, unsigned depth)
{
    if (!pass_is_inside(v, branch)) return true;
    if (v->kind != IR_VALUE_RESULT || !computes_address(v->of.inst) || depth == 0) return false;
    for (uint32_t i = 0; i < v->of.inst->n_operands; i++)
        if (!can_be_outside(v->of.inst->operands[i], branch, depth - 1)) return false;
    return true;
}

static void take_outside(const struct ir_value *v, struct ir_inst *branch)
{
    if (!pass_is_inside(v, branch)) return;
    for (uint32_t i = 0; i < v->of.inst->n_operands; i++) take_outside(v->of.inst->operands[i], branch);
    ir_inst_move_before(v->of.inst, branch);
}

/* ---- one store behind the if ---- */

static struct ir_value *choose(struct ir_inst *branch, struct ir_value *const values[2])
{
    if (ir_value_same(values[0], values[1]) && !pass_is_inside(values[0], branch)) return values[0];
    for (int b = 0; b < 2; b++) pass_operand_add(branch->blocks[b]->last, values[b]);
    return pass_result_add(branch, values[0]->type);
}

static uint32_t alignment(const struct sink *s, const struct ir_inst *store)
{
    return store->attrs.align ? store->attrs.align : (uint32_t)ir_type_size(s->alias.module, store->type);
}

/* stores[b]: what is stored to the place where branch goes that way. */
static void store_behind(struct sink *s, struct ir_inst *branch, struct ir_inst *const stores[2],
                         struct ir_value *address)
{
    take_outside(address, branch);
    struct ir_inst *nearer = alignment(s, stores[0]) < alignment(s, stores[1]) ? stores[0] : stores[1];
    struct ir_value *values[2] = {stores[0]->operands[1], stores[1]->operands[1]};
    struct ir_builder b = ir_builder_before(branch->next);
    b.loc = nearer->loc;
    struct ir_value *operands[2] = {address, choose(branch, values)};
    ir_build(&b, IR_OP_STORE, nearer->type, operands, 2)->attrs = nearer->attrs;
    for (int k = 0; k < 2; k++) ir_inst_remove(stores[k]);
    s->changed = true;
}

/* A store that gets to the end of its block: its partner is in the other block, or before the if, where nothing in
   between sees what that one stored. */
static bool sink_store(struct sink *s, struct ir_inst *branch, int side, struct ir_inst *store)
{
    const struct alias_place place = place_of(s, store);
    struct ir_inst *stores[2] = {store, store}, *other = find_obstacle(s, branch->blocks[1 - side]->last, &place);
    struct ir_value *address = store->operands[0];
    if (!other) {
        other = find_obstacle(s, branch->prev, &place);
        if (!is_partner(s, other, store) || is_seen_before(s, store, &place)) return false;
        address = other->operands[0];
    }
    if (!is_partner(s, other, store) || !can_be_outside(address, branch, DEEPEST_ADDRESS)) return false;
    stores[1 - side] = other;
    store_behind(s, branch, stores, address);
    return true;
}

/* The last store first: so they keep their order. */
static void sink_side(struct sink *s, struct ir_inst *branch, int side)
{
    struct passed passed;
    passed.n = 0;
    passed.closed = false;
    for (struct ir_inst *inst = branch->blocks[side]->last, *before; inst && !passed.closed; inst = before) {
        before = inst->prev;
        if (is_plain_store(inst)) {
            struct alias_place place = place_of(s, inst);
            if (gets_by(s, &passed, &place) && sink_store(s, branch, side, inst)) continue;
        }
        note(s, &passed, inst);
    }
}

/* Whoever goes in comes to what stands behind it. */
static bool ends_in_one_place(const struct ir_inst *branch)
{
    for (int b = 0; b < 2; b++)
        if (branch->blocks[b]->last->op != IR_OP_YIELD) return false;
    return !pass_leaves(branch);
}

/* Inner ifs first: what they leave behind them may go on. */
static void sink_block(struct sink *s, struct ir_block *block)
{
    for (struct ir_inst *inst = block->first; inst; inst = inst->next) {
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) sink_block(s, inst->blocks[b]);
        if (inst->op != IR_OP_IF || !ends_in_one_place(inst)) continue;
        for (int b = 0; b < 2; b++) sink_side(s, inst, b);
    }
}

static bool run_sink_stores(struct ir_function *f)
{
    struct sink s = {.changed = false};
    alias_init(&s.alias, f, pass_number(f));
    sink_block(&s, f->body);
    alias_clear(&s.alias);
    return s.changed;
}

const struct pass pass_sink_stores = {"sink_stores", "one store behind an if instead of several", run_sink_stores};
