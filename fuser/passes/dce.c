/*
 * What nothing depends on goes.
 *
 * Alive from the start are effects and returns; alive is what they use, and the control flow they stand in:
 * conditions of ifs, the ways out of loops. Results of ifs and loops, and values that loops pass on, live and
 * die one by one. A loop that has no way out is an effect too.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/alias.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/base/arena.h"
#include "ir/base/map.h"

struct dce {
    struct alias alias;
    bool *live;             /* by number of the value */
    bool *read;             /* by number of a variable's address: something reads it, or we do not know */
    struct map control;     /* ifs and loops that stay */
    struct ir_value **todo; /* live values whose own needs are not yet looked at */
    size_t n_todo, capacity;
    bool changed;
};

/* ---- roots ---- */

static bool is_var(const struct ir_value *v)
{
    return v && v->kind == IR_VALUE_RESULT && v->of.inst->op == IR_OP_VAR;
}

static void note_read(struct ir_inst *inst, void *data)
{
    struct dce *d = data;
    struct alias_access access = alias_access(&d->alias, inst);
    if (access.effect == ALIAS_ACCESS && access.reads && is_var(access.read.root))
        d->read[access.read.root->scratch] = true;
}

/* A plain write to a variable that nothing reads. Who takes a packet does more than write it. */
static bool is_unread(const struct dce *d, const struct ir_inst *inst)
{
    if (inst->attrs.is_volatile || inst->n_results || ir_op_class(inst->op) == IR_CLASS_PIPE) return false;
    struct alias_access access = alias_access(&d->alias, inst);
    if (access.effect != ALIAS_ACCESS || !is_var(access.write.root)) return false;
    uint32_t number = access.write.root->scratch;
    return !d->read[number] && !d->alias.escapes[number];
}

static bool has_effect(const struct dce *d, const struct ir_inst *inst)
{
    if (inst->blocks[0]) return false;
    if (pass_is_terminator(inst)) return inst->op == IR_OP_RETURN;
    if (inst->attrs.is_volatile) return true;
    if (ir_op_info(inst->op)->flags & IR_FLAG_WRITES) return !is_unread(d, inst);
    return !inst->n_results;
}

/* ---- marking ---- */

static void mark(struct dce *d, struct ir_value *v)
{
    if (!v->scratch || d->live[v->scratch]) return;
    d->live[v->scratch] = true;
    if (d->n_todo == d->capacity) {
        d->capacity = d->capacity ? 2 * d->capacity : 64;
        d->todo = arena_realloc(d->todo, d->capacity * sizeof(*d->todo));
    }
    d->todo[d->n_todo++] = v;
}

static void mark_operands(struct dce *d, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_operands; i++) mark(d, inst->operands[i]);
}

static void mark_control(struct dce *d, const struct ir_block *block);

static void mark_exit(struct ir_inst *exit, void *data)
{
    if (exit->op != IR_OP_RETURN) mark_control(data, exit->parent);
}

/* The ifs and loops around a block stay, and with a loop the way to each of its exits. */
static void mark_control(struct dce *d, const struct ir_block *block)
{
    for (const struct ir_inst *p = block->parent; p; p = p->parent->parent) {
        if (map_find(&d->control, (uintptr_t)p)) return;
        if (!map_put(&d->control, (uintptr_t)p, d)) arena_no_memory(sizeof *p);
        if (p->op == IR_OP_IF) mark(d, p->operands[0]);
        if (p->op == IR_OP_LOOP) pass_walk_exits(p->blocks[0], mark_exit, d);
    }
}

struct carried {
    struct dce *d;
    enum ir_op op;
    uint32_t index;
};

static void mark_carried(struct ir_inst *exit, void *data)
{
    const struct carried *c = data;
    if (exit->op == c->op) mark(c->d, exit->operands[c->index]);
}

static void mark_needs_of_result(struct dce *d, const struct ir_inst *inst, uint32_t index)
{
    mark_control(d, inst->parent);
    if (!inst->blocks[0]) {
        mark_operands(d, inst);
        return;
    }
    mark_control(d, inst->blocks[0]);
    for (int b = 0; b < 2 && inst->op == IR_OP_IF; b++)
        if (inst->blocks[b]->last->op == IR_OP_YIELD) mark(d, inst->blocks[b]->last->operands[index]);
    if (inst->op == IR_OP_LOOP)
        pass_walk_exits(inst->blocks[0], mark_carried, &(struct carried){d, IR_OP_BREAK, index});
}

static void mark_needs(struct dce *d, const struct ir_value *v)
{
    if (v->kind == IR_VALUE_RESULT) mark_needs_of_result(d, v->of.inst, v->index);
    if (v->kind != IR_VALUE_BLOCK_ARG) return;
    mark(d, v->of.block->parent->operands[v->index]);
    pass_walk_exits(v->of.block, mark_carried, &(struct carried){d, IR_OP_CONTINUE, v->index});
}

static void find_break(struct ir_inst *exit, void *data)
{
    *(bool *)data |= exit->op == IR_OP_BREAK;
}

static void mark_root(struct ir_inst *inst, void *data)
{
    struct dce *d = data;
    bool ends = inst->op != IR_OP_LOOP;
    if (!ends) pass_walk_exits(inst->blocks[0], find_break, &ends);
    if (!ends) mark_control(d, inst->blocks[0]);
    if (!has_effect(d, inst)) return;
    mark_operands(d, inst);
    mark_control(d, inst->parent);
}

/* ---- sweeping ---- */

static bool is_live(const struct dce *d, const struct ir_value *v)
{
    return d->live[v->scratch];
}

static bool any_live(const struct dce *d, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_results; i++)
        if (is_live(d, inst->results[i])) return true;
    return false;
}

static void drop_carried(struct ir_inst *exit, void *data)
{
    const struct carried *c = data;
    if (exit->op == c->op) pass_operand_remove(exit, c->index);
}

static void drop_result(struct dce *d, struct ir_inst *inst, uint32_t i)
{
    for (int b = 0; b < 2 && inst->op == IR_OP_IF; b++)
        if (inst->blocks[b]->last->op == IR_OP_YIELD) pass_operand_remove(inst->blocks[b]->last, i);
    if (inst->op == IR_OP_LOOP) pass_walk_exits(inst->blocks[0], drop_carried, &(struct carried){d, IR_OP_BREAK, i});
    pass_result_remove(inst, i);
    d->changed = true;
}

static void drop_arg(struct dce *d, struct ir_inst *loop, uint32_t i)
{
    pass_walk_exits(loop->blocks[0], drop_carried, &(struct carried){d, IR_OP_CONTINUE, i});
    pass_operand_remove(loop, i);
    pass_arg_remove(loop->blocks[0], i);
    d->changed = true;
}

/* Values nobody needs leave an if or loop that stays. */
static void narrow(struct dce *d, struct ir_inst *inst)
{
    for (uint32_t i = inst->n_results; i--;)
        if (!is_live(d, inst->results[i])) drop_result(d, inst, i);
    for (uint32_t i = inst->op == IR_OP_LOOP ? inst->n_operands : 0; i--;)
        if (!is_live(d, inst->blocks[0]->args[i])) drop_arg(d, inst, i);
}

static void sweep(struct ir_inst *inst, void *data)
{
    struct dce *d = data;
    bool stays = pass_is_terminator(inst) || any_live(d, inst) || has_effect(d, inst);
    if (inst->blocks[0]) stays = map_find(&d->control, (uintptr_t)inst) != NULL;
    if (!stays) {
        ir_inst_remove(inst);
        d->changed = true;
    } else if (inst->blocks[0]) {
        narrow(d, inst);
    }
}

static bool run_dce(struct ir_function *f)
{
    struct dce d = {.changed = false};
    uint32_t n = pass_number(f);
    alias_init(&d.alias, f, n);
    d.live = memset(arena_realloc(NULL, n), 0, n);
    d.read = memset(arena_realloc(NULL, n), 0, n);
    ir_walk(f->body, note_read, &d);
    ir_walk(f->body, mark_root, &d);
    while (d.n_todo) mark_needs(&d, d.todo[--d.n_todo]);
    ir_walk(f->body, sweep, &d);
    map_clear(&d.control);
    alias_clear(&d.alias);
    free(d.live);
    free(d.read);
    free(d.todo);
    return d.changed;
}

const struct pass pass_dce = {"dce", "what nothing depends on", run_dce};
