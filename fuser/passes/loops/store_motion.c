/*
 * A place in memory that each round of a loop stores to is a variable while the loop runs, of which mem2reg makes a
 * value:
 *
 *     loop { store p, load p + x; ... }      v = load p; loop { v = v + x; ... }; store p, v
 *
 * The loop stores there before anything leaves it, so that nothing is stored that was not. Nobody can tell when it was:
 * the rest of the loop touches no memory that may be part of the place, and shows none to others.
 */
#include "fuser/passes/alias.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

enum { MOST_ACCESSES = 64 };

struct motion {
    struct alias alias;
    bool changed;
};

/* Of a loop, in the order in which they stand there. */
struct accesses {
    const struct alias *alias;
    bool refused; /* there is more than accesses, or too many */
    uint32_t n;
    struct ir_inst *inst[MOST_ACCESSES];
    struct alias_access access[MOST_ACCESSES];
};

static void note(struct ir_inst *inst, void *data)
{
    struct accesses *a = data;
    if (a->refused) return;
    struct alias_access access = alias_access(a->alias, inst);
    if (inst->op == IR_OP_RETURN || access.effect > ALIAS_ACCESS) a->refused = true;
    if (a->refused || access.effect == ALIAS_NONE) return;
    a->refused = inst->attrs.is_volatile || a->n == MOST_ACCESSES;
    if (a->refused) return;
    a->inst[a->n] = inst;
    a->access[a->n++] = access;
}

static void note_all(struct accesses *a, const struct motion *m, struct ir_inst *loop)
{
    a->alias = &m->alias;
    a->refused = false;
    a->n = 0;
    ir_walk(loop->blocks[0], note, a);
    if (a->refused) a->n = 0;
}

/* It is a number or pointer of the same type. */
static bool is_access_alike(const struct ir_inst *inst, const struct ir_inst *store)
{
    return (inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE) && inst->type == store->type;
}

/* Those that touch the place of the store, which all of them do wholly; 0: they do not. */
static uint32_t of_place(const struct motion *m, const struct accesses *a, const struct ir_inst *store,
                         struct ir_inst *found[MOST_ACCESSES])
{
    const struct alias_place place = alias_access(&m->alias, store).write;
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        if (!alias_touches(&m->alias, &a->access[i], &place)) continue;
        if (!is_access_alike(a->inst[i], store) || !alias_must(&a->access[i].read, &place)) return 0;
        found[n++] = a->inst[i];
    }
    return n;
}

/* The same access at a place where the loop's instructions do not stand. */
static struct ir_inst *access_again(struct ir_builder *b, enum ir_op op, const struct ir_inst *store,
                                    struct ir_value *value)
{
    struct ir_value *operands[2] = {store->operands[0], value};
    b->loc = store->loc;
    struct ir_inst *inst = ir_build(b, op, store->type, operands, op == IR_OP_STORE ? 2 : 1);
    inst->attrs = store->attrs;
    return inst;
}

/* Its accesses touch no other place that a store may be moved from: the rest of the list stays as it is. */
static bool move_store(const struct motion *m, const struct accesses *a, struct ir_inst *loop, struct ir_inst *store)
{
    struct ir_inst *found[MOST_ACCESSES];
    uint32_t n = of_place(m, a, store, found);
    if (n == 0) return false;
    struct ir_builder before = ir_builder_before(loop), behind = ir_builder_before(loop->next);
    struct ir_value *var = ir_build_ptr(&before, IR_OP_VAR, store->type, IR_SPACE_PRIVATE, NULL, 0)->results[0];
    if (found[0] != store) {
        struct ir_value *first = access_again(&before, IR_OP_LOAD, store, NULL)->results[0];
        ir_build(&before, IR_OP_STORE, store->type, (struct ir_value *[]){var, first}, 2);
    }
    access_again(&behind, IR_OP_STORE, store, ir_build1(&behind, IR_OP_LOAD, store->type, var));
    for (uint32_t i = 0; i < n; i++) {
        found[i]->operands[0] = var;
        found[i]->attrs = (struct ir_attrs){0};
    }
    return true;
}

static bool is_variable(const struct ir_value *address)
{
    return address->kind == IR_VALUE_RESULT && address->of.inst->op == IR_OP_VAR;
}

static bool may_move(const struct ir_inst *inst, const struct ir_inst *loop)
{
    if (inst->op != IR_OP_STORE || inst->attrs.is_volatile) return false;
    if (!ir_type_is_number(inst->type) && !ir_type_is_ptr(inst->type)) return false;
    return !is_variable(inst->operands[0]) && !pass_is_inside(inst->operands[0], loop);
}

static void move_from(struct motion *m, struct ir_inst *loop)
{
    struct accesses a;
    bool noted = false;
    for (struct ir_inst *inst = loop->blocks[0]->first; inst && !pass_is_terminator(inst); inst = inst->next) {
        if (pass_leaves(inst)) return;
        if (!may_move(inst, loop)) continue;
        if (!noted) note_all(&a, m, loop);
        noted = true;
        if (move_store(m, &a, loop, inst)) m->changed = true;
    }
}

/* Inner loops first: what leaves them may leave the outer one too. */
static void move_inside(struct motion *m, struct ir_block *block)
{
    for (struct ir_inst *inst = block->first; inst; inst = inst->next) {
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) move_inside(m, inst->blocks[b]);
        if (inst->op == IR_OP_LOOP) move_from(m, inst);
    }
}

static bool run_store_motion(struct ir_function *f)
{
    struct motion m = {.changed = false};
    alias_init(&m.alias, f, pass_number(f));
    move_inside(&m, f->body);
    alias_clear(&m.alias);
    return m.changed;
}

const struct pass pass_store_motion = {"store_motion", "places that each round of a loop stores to become values of it",
                                       run_store_motion};
