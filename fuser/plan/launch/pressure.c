/*
 * How many bytes of values a work-item has alive at once: an estimate of the registers that a fused kernel wants.
 * Instructions are numbered in the order they are written; a value lives from where it is made to its last use, or to
 * the end of a loop that uses it and does not make it. Constants, bools and what all work-items have in common are not
 * counted, nor are variables that stay in memory.
 */
#include "fuser/plan/launch/pressure.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/passes/util.h"
#include "ir/base/arena.h"

/* One value: where it lives, and whether work-items differ in it. */
struct life {
    uint32_t from, to, bytes;
    bool varies;
};

struct lives {
    const struct ir_module *module;
    struct life *of; /* by number of the value */
    uint32_t at;     /* number of the instruction */
};

static struct life *life_of(const struct lives *l, const struct ir_value *v)
{
    return v->scratch ? &l->of[v->scratch] : NULL;
}

/* Whether the result differs between work-items, seen from the operation alone. */
static bool makes_difference(const struct ir_inst *inst)
{
    if (inst->op == IR_OP_GLOBAL_ID || inst->op == IR_OP_LOCAL_ID) return true;
    return !pass_is_pure(inst) && inst->op != IR_OP_VAR;
}

static bool uses_varying(const struct lives *l, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct life *life = life_of(l, inst->operands[i]);
        if (life && life->varies) return true;
    }
    return false;
}

static void begin(struct lives *l, const struct ir_value *v, bool varies)
{
    struct life *life = life_of(l, v);
    if (!life) return;
    *life = (struct life){.from = l->at, .to = l->at, .varies = varies};
    if (!ir_type_is_bool(v->type)) life->bytes = (uint32_t)ir_type_size(l->module, v->type);
}

/* What the outermost loop around the use, but not around the value, uses lives as long as the loop. */
static uint32_t end_of_use(const struct ir_inst *user, const struct ir_value *v)
{
    const struct ir_inst *loop = NULL;
    for (const struct ir_inst *outer = user->parent->parent; outer; outer = outer->parent->parent)
        if (outer->op == IR_OP_LOOP && !pass_is_inside(v, outer)) loop = outer;
    return loop ? loop->scratch : 0;
}

/* Gives instructions their numbers, an if or loop that of its end. */
static void number_block(struct lives *l, const struct ir_block *block)
{
    for (uint32_t i = 0; i < block->n_args; i++) begin(l, block->args[i], true);
    for (struct ir_inst *inst = block->first; inst; inst = inst->next) {
        bool varies = makes_difference(inst) || uses_varying(l, inst);
        l->at++;
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) number_block(l, inst->blocks[b]);
        inst->scratch = l->at;
        for (uint32_t i = 0; i < inst->n_results; i++) begin(l, inst->results[i], varies);
    }
}

static void see_uses(struct ir_inst *inst, void *data)
{
    struct lives *l = data;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        struct life *life = life_of(l, inst->operands[i]);
        uint32_t end = end_of_use(inst, inst->operands[i]);
        if (!life) continue;
        if (inst->scratch > life->to) life->to = inst->scratch;
        if (end > life->to) life->to = end;
    }
}

uint64_t register_pressure(struct ir_function *f)
{
    uint32_t n = pass_number(f);
    struct lives l = {.module = f->module, .of = arena_realloc(NULL, n * sizeof *l.of)};
    memset(l.of, 0, n * sizeof *l.of);
    number_block(&l, f->body);
    ir_walk(f->body, see_uses, &l);
    int64_t *change = arena_realloc(NULL, (l.at + 2) * sizeof *change);
    memset(change, 0, (l.at + 2) * sizeof *change);
    for (uint32_t i = 1; i < n; i++) {
        if (!l.of[i].varies || l.of[i].to == l.of[i].from) continue;
        change[l.of[i].from] += l.of[i].bytes;
        change[l.of[i].to] -= l.of[i].bytes;
    }
    int64_t alive = 0, most = 0;
    for (uint32_t i = 0; i <= l.at; i++) {
        alive += change[i];
        if (alive > most) most = alive;
    }
    free(change);
    free(l.of);
    return (uint64_t)most;
}
