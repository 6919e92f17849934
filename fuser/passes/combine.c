/*
 * Loads of neighbouring numbers become one load of a vector, and stores likewise: the members of a struct, or the
 * elements of a small array, that people write one by one. What comes out of an array of structs is then moved by whole
 * registers and shuffled, not number by number and work-item by work-item.
 *
 * Loads go up to the first of them, where nothing between them may write their places; stores down to the last one,
 * where nothing between touches theirs.
 */
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/alias.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

enum { MOST_LANES = 16, WINDOW = 96 /* instructions looked through for the others */ };

struct member {
    struct ir_inst *inst;
    struct alias_place place;
    unsigned order; /* of the instructions */
};

/* Accesses of numbers of one type in one vector's reach of each other. */
struct group {
    struct member member[MOST_LANES];
    unsigned n;
};

struct combine {
    struct alias alias;
    struct ir_module *module;
    struct pass_map map;
    bool changed;
};

/* ---- what belongs together ---- */

static bool is_number(ir_type t)
{
    return ir_type_lanes(t) == 1 && ir_type_bits(t) >= 8 && !ir_type_is_ptr(t);
}

static bool is_plain(const struct ir_inst *inst)
{
    bool memory = inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE;
    return memory && !inst->attrs.is_volatile && is_number(inst->type);
}

/* Where b lies from a, in numbers; false: not at a multiple, or nobody knows. */
static bool distance(const struct combine *c, ir_type t, const struct alias_place *a, const struct alias_place *b,
                     int64_t *numbers)
{
    int64_t bytes = (int64_t)(b->offset - a->offset), size = (int64_t)ir_type_size(c->module, t);
    *numbers = bytes / size;
    return alias_same_base(a, b) && a->space == b->space && bytes % size == 0 && llabs(*numbers) < MOST_LANES;
}

static bool joins(const struct combine *c, const struct group *g, const struct ir_inst *inst,
                  const struct alias_place *place)
{
    const struct ir_inst *first = g->member[0].inst;
    if (g->n == MOST_LANES || inst->op != first->op || inst->type != first->type || !is_plain(inst)) return false;
    for (unsigned i = 0; i < g->n; i++) {
        int64_t numbers;
        if (!distance(c, inst->type, &g->member[i].place, place, &numbers) || numbers == 0) return false;
    }
    return true;
}

/* Places that were written since the first load: one that may be among them stays where it is. */
struct writes {
    struct alias_place place[WINDOW];
    unsigned n;
};

static bool is_written(const struct combine *c, const struct writes *w, const struct alias_place *place)
{
    for (unsigned i = 0; i < w->n; i++)
        if (alias_may(&c->alias, place, &w->place[i])) return true;
    return false;
}

/* Whether the stores so far must not go beyond an access. */
static bool holds_back(const struct combine *c, const struct group *g, const struct alias_access *access)
{
    for (unsigned i = 0; i < g->n; i++) {
        const struct alias_place *place = &g->member[i].place;
        if (access->writes && alias_may(&c->alias, place, &access->write)) return true;
        if (access->reads && alias_may(&c->alias, place, &access->read)) return true;
    }
    return false;
}

static void gather_group(const struct combine *c, struct ir_inst *first, struct group *g)
{
    struct writes writes = {.n = 0};
    bool loads = first->op == IR_OP_LOAD;
    uint64_t size = ir_type_size(c->module, first->type);
    *g = (struct group){.member = {{first, alias_place(&c->alias, first->operands[0], size), 0}}, .n = 1};
    struct ir_inst *inst = first->next;
    for (unsigned step = 1; inst && step < WINDOW; inst = inst->next, step++) {
        struct alias_access access = alias_access(&c->alias, inst);
        if (inst->blocks[0] || access.effect > ALIAS_ACCESS) return;
        if (access.effect == ALIAS_NONE) continue;
        const struct alias_place *place = loads ? &access.read : &access.write;
        if (joins(c, g, inst, place) && !is_written(c, &writes, place)) {
            g->member[g->n++] = (struct member){inst, *place, step};
            continue;
        }
        if (!loads && holds_back(c, g, &access)) return;
        if (loads && access.writes) writes.place[writes.n++] = access.write;
    }
}

/* ---- the vector ---- */

/* By address. */
static void sort(struct group *g)
{
    for (unsigned i = 1; i < g->n; i++)
        for (unsigned k = i; k; k--) {
            struct member *a = &g->member[k - 1], *b = &g->member[k], kept = *a;
            if ((int64_t)(b->place.offset - a->place.offset) > 0) break;
            *a = *b;
            *b = kept;
        }
}

/* From member `from` on, how many follow each other: as many as a vector may have. */
static unsigned run_length(const struct combine *c, const struct group *g, unsigned from)
{
    static const unsigned lengths[] = {16, 8, 4, 3, 2};
    const struct member *m = &g->member[from];
    uint64_t size = ir_type_size(c->module, m->inst->type);
    unsigned n = 1;
    while (from + n < g->n && m[n].place.offset - m[n - 1].place.offset == size) n++;
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (lengths[i] <= n) return lengths[i];
    return 1;
}

static uint32_t alignment(const struct combine *c, const struct ir_inst *inst)
{
    return inst->attrs.align ? inst->attrs.align : (uint32_t)ir_type_size(c->module, inst->type);
}

/* The address of number `from`, made of that of another one. */
static struct ir_value *address_of(struct combine *c, struct ir_builder *b, const struct member *known,
                                   const struct member *from)
{
    int64_t numbers;
    if (!distance(c, known->inst->type, &known->place, &from->place, &numbers) || numbers == 0)
        return known->inst->operands[0];
    struct ir_value *operands[2] = {known->inst->operands[0], ir_const_int(c->module, IR_I64, (uint64_t)numbers)};
    enum ir_space space = ir_type_space(operands[0]->type);
    return ir_build_ptr(b, IR_OP_ELEM, known->inst->type, space, operands, 2)->results[0];
}

/* n loads, by address, become one where the first instruction of them is. */
static void combine_loads(struct combine *c, struct member *m, unsigned n)
{
    struct member *first = m;
    for (unsigned i = 1; i < n; i++)
        if (m[i].order < first->order) first = &m[i];
    struct ir_builder b = ir_builder_before(first->inst);
    b.loc = first->inst->loc;
    struct ir_value *address = address_of(c, &b, first, m);
    ir_type type = ir_type_with_lanes(m->inst->type, n);
    struct ir_inst *load = ir_build(&b, IR_OP_LOAD, type, &address, 1);
    load->attrs.align = alignment(c, m->inst);
    for (unsigned i = 0; i < n; i++) {
        struct ir_value *lane = ir_const_int(c->module, IR_I32, i);
        pass_map_set(&c->map, m[i].inst->results[0], ir_build2(&b, IR_OP_EXTRACT, type, load->results[0], lane));
    }
    for (unsigned i = 0; i < n; i++) ir_inst_remove(m[i].inst);
}

/* And n stores where the last one is. */
static void combine_stores(struct combine *c, struct member *m, unsigned n)
{
    struct member *last = m;
    for (unsigned i = 1; i < n; i++)
        if (m[i].order > last->order) last = &m[i];
    struct ir_builder b = ir_builder_before(last->inst);
    b.loc = last->inst->loc;
    struct ir_value *numbers[MOST_LANES], *operands[2] = {m->inst->operands[0], NULL};
    for (unsigned i = 0; i < n; i++) numbers[i] = m[i].inst->operands[1];
    ir_type type = ir_type_with_lanes(m->inst->type, n);
    operands[1] = ir_build(&b, IR_OP_VEC, type, numbers, n)->results[0];
    ir_build(&b, IR_OP_STORE, type, operands, 2)->attrs.align = alignment(c, m->inst);
    for (unsigned i = 0; i < n; i++) ir_inst_remove(m[i].inst);
}

static void combine_group(struct combine *c, struct group *g)
{
    sort(g);
    for (unsigned from = 0, n; from < g->n; from += n) {
        struct member *m = &g->member[from];
        n = run_length(c, g, from);
        if (n == 1) continue;
        if (m->inst->op == IR_OP_LOAD)
            combine_loads(c, m, n);
        else
            combine_stores(c, m, n);
        c->changed = true;
    }
}

static bool is_member(const struct group *g, const struct ir_inst *inst)
{
    for (unsigned i = 0; i < g->n; i++)
        if (g->member[i].inst == inst) return true;
    return false;
}

enum { DEEPEST = 8 };

/* Whether it is the same for all work-items, plainly. Numbers from there are loaded where they are used, which takes no
   instruction of its own; those of a vector would all be kept from the first one on. */
static bool is_same_for_all(const struct ir_value *v, unsigned depth)
{
    if (v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_PARAM) return true;
    if (v->kind != IR_VALUE_RESULT || depth == DEEPEST) return false;
    const struct ir_inst *inst = v->of.inst;
    if (inst->op == IR_OP_GLOBAL || inst->op == IR_OP_GROUP_ID) return true;
    if (ir_op_class(inst->op) == IR_CLASS_ND_RANGE || !(ir_op_info(inst->op)->flags & IR_FLAG_PURE)) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!is_same_for_all(inst->operands[i], depth + 1)) return false;
    return true;
}

static bool may_combine(const struct ir_inst *inst)
{
    return is_plain(inst) && (inst->op == IR_OP_STORE || !is_same_for_all(inst->operands[0], 0));
}

static void combine_block(struct combine *c, struct ir_block *block)
{
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        struct group g = {.n = 0};
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) combine_block(c, inst->blocks[b]);
        if (may_combine(inst)) gather_group(c, inst, &g);
        next = inst->next;
        while (next && is_member(&g, next)) next = next->next;
        combine_group(c, &g);
    }
}

static bool run_combine(struct ir_function *f)
{
    struct combine c = {.module = f->module};
    pass_map_init(&c.map, f);
    alias_init(&c.alias, f, pass_number(f));
    combine_block(&c, f->body);
    pass_map_all(&c.map, f);
    alias_clear(&c.alias);
    pass_map_clear(&c.map);
    return c.changed;
}

const struct pass pass_combine = {"combine", "accesses of neighbouring numbers become one of a vector", run_combine};
