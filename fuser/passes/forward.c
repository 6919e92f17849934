/*
 * A load takes what was stored to, or loaded from, the same place before; a store of what the place holds
 * already goes.
 *
 * The walk keeps a list of places whose contents are known. A write to a place that may be the same takes
 * it off the list; so does, for memory that others can write, everything that makes their writes visible.
 * Behind an if only what both ways left alone is known; inside and behind a loop what no round touches.
 */
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/alias.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

enum { MAX_KNOWN = 128 };

struct known {
    struct alias_place place;
    ir_type type;
    struct ir_value *value;
};

/* The contents known at one point, oldest first. */
struct contents {
    uint32_t n;
    struct known known[MAX_KNOWN];
};

struct forward {
    struct pass_map map;
    struct alias alias;
    bool changed;
};

/* ---- the list ---- */

static struct known *look_up(struct contents *c, const struct alias_place *place, ir_type type)
{
    for (uint32_t i = c->n; i; i--)
        if (c->known[i - 1].type == type && alias_must(&c->known[i - 1].place, place)) return &c->known[i - 1];
    return NULL;
}

static void learn(struct contents *c, struct alias_place place, ir_type type, struct ir_value *value)
{
    if (c->n == MAX_KNOWN) memmove(c->known, c->known + 1, --c->n * sizeof *c->known);
    c->known[c->n++] = (struct known){place, type, value};
}

static bool survives(const struct forward *f, const struct known *k, const struct alias_access *access)
{
    switch (access->effect) {
    case ALIAS_NONE: return true;
    case ALIAS_ACCESS: return !access->writes || !alias_may(&f->alias, &k->place, &access->write);
    default: return alias_is_stable(&f->alias, &k->place);
    }
}

static void forget(const struct forward *f, struct contents *c, const struct ir_inst *inst)
{
    struct alias_access access = alias_access(&f->alias, inst);
    if (access.effect == ALIAS_NONE || (access.effect == ALIAS_ACCESS && !access.writes)) return;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++)
        if (survives(f, &c->known[i], &access)) c->known[n++] = c->known[i];
    c->n = n;
}

static void forget_block(const struct forward *f, struct contents *c, const struct ir_block *block)
{
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        forget(f, c, inst);
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) forget_block(f, c, inst->blocks[b]);
    }
}

/* Keeps of c what d knows too. */
static void intersect(struct contents *c, struct contents *d)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        struct known *k = look_up(d, &c->known[i].place, c->known[i].type);
        if (k && k->value == c->known[i].value) c->known[n++] = c->known[i];
    }
    c->n = n;
}

/* ---- the walk ---- */

static void forward_block(struct forward *f, struct contents *c, struct ir_block *block);

static struct contents *copy_of(const struct contents *c)
{
    struct contents *copy = malloc(sizeof *copy);
    if (!copy) abort();
    copy->n = c->n;
    memcpy(copy->known, c->known, c->n * sizeof *c->known);
    return copy;
}

static void forward_if(struct forward *f, struct contents *c, struct ir_inst *branch)
{
    struct contents *before = copy_of(c);
    for (int b = 0; b < 2; b++) {
        struct contents *inside = copy_of(before);
        forward_block(f, inside, branch->blocks[b]);
        if (branch->blocks[b]->last->op == IR_OP_YIELD) intersect(c, inside);
        free(inside);
    }
    free(before);
}

static void forward_loop(struct forward *f, struct contents *c, struct ir_inst *loop)
{
    forget_block(f, c, loop->blocks[0]);
    struct contents *inside = copy_of(c);
    forward_block(f, inside, loop->blocks[0]);
    free(inside);
}

static void forward_load(struct forward *f, struct contents *c, struct ir_inst *load)
{
    struct alias_place place = alias_access(&f->alias, load).read;
    struct known *k = look_up(c, &place, load->type);
    if (!k) {
        learn(c, place, load->type, load->results[0]);
        return;
    }
    pass_map_set(&f->map, load->results[0], k->value);
    ir_inst_remove(load);
    f->changed = true;
}

static void forward_store(struct forward *f, struct contents *c, struct ir_inst *store)
{
    struct alias_place place = alias_access(&f->alias, store).write;
    struct known *k = look_up(c, &place, store->type);
    if (k && ir_value_same(k->value, store->operands[1])) {
        ir_inst_remove(store);
        f->changed = true;
        return;
    }
    forget(f, c, store);
    learn(c, place, store->type, store->operands[1]);
}

static void forward_block(struct forward *f, struct contents *c, struct ir_block *block)
{
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        next = inst->next;
        pass_map_operands(&f->map, inst);
        if (inst->op == IR_OP_LOAD && !inst->attrs.is_volatile) {
            forward_load(f, c, inst);
        } else if (inst->op == IR_OP_STORE && !inst->attrs.is_volatile) {
            forward_store(f, c, inst);
        } else if (inst->op == IR_OP_IF) {
            forward_if(f, c, inst);
        } else if (inst->op == IR_OP_LOOP) {
            forward_loop(f, c, inst);
        } else {
            forget(f, c, inst);
        }
    }
}

static bool run_forward(struct ir_function *fn)
{
    struct forward f = {.changed = false};
    struct contents *c = calloc(1, sizeof *c);
    if (!c) abort();
    uint32_t n = pass_number(fn);
    pass_map_init(&f.map, fn);
    alias_init(&f.alias, fn, n);
    forward_block(&f, c, fn->body);
    alias_clear(&f.alias);
    pass_map_clear(&f.map);
    free(c);
    return f.changed;
}

const struct pass pass_forward = {"forward", "loads take what was stored", run_forward};
