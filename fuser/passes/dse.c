/* Stores whose value nobody sees, because a later store of the same block puts another one in its place. */
#include "fuser/passes/alias.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

enum { MAX_PENDING = 64 };

/* Stores of a block that nothing has looked at so far, oldest first. */
struct pending {
    uint32_t n;
    struct {
        struct ir_inst *store;
        struct alias_place place;
    } stores[MAX_PENDING];
};

struct overwrite {
    struct alias alias;
    bool changed;
};

static void forget(struct pending *p, uint32_t i)
{
    p->n--;
    for (; i < p->n; i++) p->stores[i] = p->stores[i + 1];
}

/* Takes off the list what the instruction, or one inside it, may look at or show to others. */
static void look(const struct overwrite *o, struct pending *p, const struct ir_inst *inst)
{
    struct alias_access access = alias_access(&o->alias, inst);
    bool shows = access.effect == ALIAS_SYNC || access.effect == ALIAS_CALL;
    for (uint32_t i = p->n; i--;) {
        bool seen =
            access.effect == ALIAS_ACCESS && access.reads && alias_may(&o->alias, &p->stores[i].place, &access.read);
        if (seen || shows) forget(p, i);
    }
    for (int b = 0; b < 2; b++)
        for (struct ir_inst *i = inst->blocks[b] ? inst->blocks[b]->first : NULL; i; i = i->next) look(o, p, i);
}

static void see_store(struct overwrite *o, struct pending *p, struct ir_inst *store)
{
    struct alias_place place = alias_access(&o->alias, store).write;
    for (uint32_t i = p->n; i--;) {
        if (p->stores[i].store->type != store->type || !alias_must(&p->stores[i].place, &place)) continue;
        ir_inst_remove(p->stores[i].store);
        forget(p, i);
        o->changed = true;
    }
    if (p->n == MAX_PENDING) forget(p, 0);
    p->stores[p->n].store = store;
    p->stores[p->n++].place = place;
}

static void overwrite_block(struct overwrite *o, struct ir_block *block)
{
    struct pending p = {.n = 0};
    for (struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (inst->op == IR_OP_STORE && !inst->attrs.is_volatile) {
            see_store(o, &p, inst);
            continue;
        }
        look(o, &p, inst);
        if (inst->blocks[0] && pass_leaves(inst)) p.n = 0;
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) overwrite_block(o, inst->blocks[b]);
    }
}

static bool run_dse(struct ir_function *f)
{
    struct overwrite o = {.changed = false};
    alias_init(&o.alias, f, pass_number(f));
    overwrite_block(&o, f->body);
    alias_clear(&o.alias);
    return o.changed;
}

const struct pass pass_dse = {"dse", "stores that a later store hides", run_dse};
