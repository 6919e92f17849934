/* Stores whose value nobody sees, because on each way from there a later store puts another one in its place. */
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/alias.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

enum { MAX_HIDDEN = 64 };

/* Places which, from one point on, are written on each way before anything looks at them: those written last first. */
struct hidden {
    uint32_t n;
    struct {
        struct alias_place place;
        ir_type type;
    } at[MAX_HIDDEN];
};

struct overwrite {
    struct alias alias;
    bool changed;
};

/* ---- the list ---- */

static bool is_hidden(const struct hidden *h, const struct alias_place *place, ir_type type)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (pass_same_bits(h->at[i].type, type) && alias_must(&h->at[i].place, place)) return true;
    return false;
}

static void hide(struct hidden *h, const struct alias_place *place, ir_type type)
{
    if (h->n == MAX_HIDDEN) memmove(h->at, h->at + 1, --h->n * sizeof *h->at);
    h->at[h->n].place = *place;
    h->at[h->n++].type = type;
}

static struct hidden *copy_of(const struct hidden *h)
{
    struct hidden *copy = malloc(sizeof *copy);
    if (!copy) abort();
    copy->n = h->n;
    memcpy(copy->at, h->at, h->n * sizeof *h->at);
    return copy;
}

/* Keeps of h what is hidden on the other way too. */
static void intersect(struct hidden *h, const struct hidden *other)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n; i++)
        if (is_hidden(other, &h->at[i].place, h->at[i].type)) h->at[n++] = h->at[i];
    h->n = n;
}

/* Takes off the list what the instruction, or one inside it, may look at or show to others. */
static void look(const struct overwrite *o, struct hidden *h, const struct ir_inst *inst)
{
    struct alias_access access = alias_access(&o->alias, inst);
    bool shows = access.effect == ALIAS_SYNC || access.effect == ALIAS_CALL;
    bool reads = access.effect == ALIAS_ACCESS && access.reads;
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n; i++)
        if (!shows && !(reads && alias_may(&o->alias, &h->at[i].place, &access.read))) h->at[n++] = h->at[i];
    h->n = n;
    for (int b = 0; b < 2; b++)
        for (struct ir_inst *i = inst->blocks[b] ? inst->blocks[b]->first : NULL; i; i = i->next) look(o, h, i);
}

/* ---- the walk, upwards ---- */

static void overwrite_block(struct overwrite *o, struct hidden *h, struct ir_block *block);

static void overwrite_if(struct overwrite *o, struct hidden *h, struct ir_inst *branch)
{
    struct hidden *other = copy_of(h);
    overwrite_block(o, h, branch->blocks[0]);
    overwrite_block(o, other, branch->blocks[1]);
    intersect(h, other);
    free(other);
}

static void overwrite_loop(struct overwrite *o, struct hidden *h, struct ir_inst *loop)
{
    struct hidden *inside = copy_of(h);
    overwrite_block(o, inside, loop->blocks[0]);
    free(inside);
    look(o, h, loop);
    if (pass_leaves(loop)) h->n = 0;
}

static void overwrite_store(struct overwrite *o, struct hidden *h, struct ir_inst *store)
{
    struct alias_place place = alias_access(&o->alias, store).write;
    if (is_hidden(h, &place, store->type)) {
        ir_inst_remove(store);
        o->changed = true;
    } else {
        hide(h, &place, store->type);
    }
}

/* h: what is hidden behind the block, then what is before it. */
static void overwrite_block(struct overwrite *o, struct hidden *h, struct ir_block *block)
{
    for (struct ir_inst *inst = block->last, *before; inst; inst = before) {
        before = inst->prev;
        if (inst->op == IR_OP_STORE && !inst->attrs.is_volatile) {
            overwrite_store(o, h, inst);
        } else if (inst->op == IR_OP_IF) {
            overwrite_if(o, h, inst);
        } else if (inst->op == IR_OP_LOOP) {
            overwrite_loop(o, h, inst);
        } else if (pass_is_terminator(inst) && inst->op != IR_OP_YIELD) {
            h->n = 0; /* goes on somewhere else */
        } else {
            look(o, h, inst);
        }
    }
}

static bool run_dse(struct ir_function *f)
{
    struct overwrite o = {.changed = false};
    alias_init(&o.alias, f, pass_number(f));
    struct hidden *behind = calloc(1, sizeof *behind);
    if (!behind) abort();
    overwrite_block(&o, behind, f->body);
    free(behind);
    alias_clear(&o.alias);
    return o.changed;
}

const struct pass pass_dse = {"dse", "stores that a later store hides", run_dse};
