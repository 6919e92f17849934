/* Constants and exact identities, and control flow whose way is known. */
#include <stdlib.h>

#include "fuser/passes/fold_ops.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

struct fold {
    struct pass_map map;
    uint32_t *uses; /* by number, as the pass found it */
    struct ir_module *module;
    bool changed;
};

static void fold_block(struct fold *f, struct ir_block *block);

static void replace(struct fold *f, const struct ir_value *from, struct ir_value *to)
{
    pass_map_set(&f->map, from, pass_map_get(&f->map, to));
    f->changed = true;
}

/* The same for what an if or a loop passes on, which may have been replaced or be unused already. */
static void replace_carried(struct fold *f, const struct ir_value *from, struct ir_value *to)
{
    if (f->uses[from->scratch] && !f->map.to[from->scratch]) replace(f, from, to);
}

/* One value out of several that may come: undef gives way to any other. */
struct agreement {
    struct ir_value *value;
    bool failed;
};

static void agree(struct agreement *a, struct ir_value *v)
{
    if (!a->value || a->value->kind == IR_VALUE_UNDEF) {
        a->value = v;
    } else if (v->kind != IR_VALUE_UNDEF && !ir_value_same(a->value, v)) {
        a->failed = true;
    }
}

/* ---- if ---- */

/* Puts the block's contents where the if is. Gives the instruction to go on with. */
static struct ir_inst *take_block(struct fold *f, struct ir_inst *branch, struct ir_block *block)
{
    struct ir_inst *end = block->last, *first = block->first;
    if (end->op != IR_OP_YIELD) { /* what follows the if is never reached */
        pass_cut_tail(branch->next);
        pass_move_tail(first, branch->parent);
        ir_inst_remove(branch);
        f->changed = true;
        return first;
    }
    for (uint32_t i = 0; i < branch->n_results; i++) replace(f, branch->results[i], end->operands[i]);
    struct ir_inst *next = branch->next;
    pass_move_body(first, branch);
    ir_inst_remove(branch);
    f->changed = true;
    return first == end ? next : first;
}

/* Within a block the condition of its if is known. */
static void assume(struct fold *f, struct ir_block *block, struct ir_value *cond, bool known)
{
    struct ir_value *saved = cond->scratch ? f->map.to[cond->scratch] : NULL;
    struct ir_inst *not = cond->kind == IR_VALUE_RESULT && cond->of.inst->op == IR_OP_NOT ? cond->of.inst : NULL;
    struct ir_value *inner = not ? pass_map_get(&f->map, not ->operands[0]) : NULL;
    if (cond->scratch) f->map.to[cond->scratch] = ir_const_bool(f->module, known);
    if (inner && inner->kind != IR_VALUE_CONST) {
        assume(f, block, inner, !known);
    } else {
        fold_block(f, block);
    }
    if (cond->scratch) f->map.to[cond->scratch] = saved;
}

/* What one branch computes and the other leaves undefined may be computed before. */
static bool move_before(struct ir_value *v, struct ir_inst *branch)
{
    struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    bool in_branch = inst && inst->parent->parent == branch && inst->n_results == 1;
    if (!in_branch || !pass_is_pure(inst) || ir_op_info(inst->op)->flags & IR_FLAG_PARTIAL) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (pass_is_inside(inst->operands[i], branch)) return false;
    ir_inst_move_before(inst, branch);
    return true;
}

static void fold_if_results(struct fold *f, struct ir_inst *branch)
{
    for (uint32_t i = 0; i < branch->n_results; i++) {
        struct agreement a = {0};
        for (int b = 0; b < 2; b++)
            if (branch->blocks[b]->last->op == IR_OP_YIELD) agree(&a, branch->blocks[b]->last->operands[i]);
        if (!a.value || a.failed || !f->uses[branch->results[i]->scratch]) continue;
        if (pass_is_inside(a.value, branch) && !move_before(a.value, branch)) continue;
        replace_carried(f, branch->results[i], a.value);
    }
}

static bool only_yields(const struct ir_block *block)
{
    return block->first->op == IR_OP_YIELD;
}

/* An if that only picks values becomes selects. */
static struct ir_inst *to_selects(struct fold *f, struct ir_inst *branch)
{
    struct ir_builder b = ir_builder_before(branch);
    struct ir_inst *next = branch->next;
    for (uint32_t i = 0; i < branch->n_results; i++) {
        struct ir_value *x = branch->blocks[0]->last->operands[i], *y = branch->blocks[1]->last->operands[i];
        struct ir_value *r = branch->results[i];
        if (!f->uses[r->scratch] || f->map.to[r->scratch]) continue;
        struct ir_value *picked = ir_build3(&b, IR_OP_SELECT, r->type, branch->operands[0], x, y);
        picked->name = r->name;
        replace(f, r, picked);
    }
    ir_inst_remove(branch);
    f->changed = true;
    return next;
}

static bool can_select(const struct ir_inst *branch)
{
    for (uint32_t i = 0; i < branch->n_results; i++) {
        ir_type t = branch->results[i]->type;
        if (!ir_type_is_number(t) && !ir_type_is_ptr(t)) return false;
    }
    return only_yields(branch->blocks[0]) && only_yields(branch->blocks[1]);
}

static void swap_blocks_of_not(struct fold *f, struct ir_inst *branch)
{
    struct ir_value *cond = branch->operands[0];
    if (cond->kind != IR_VALUE_RESULT || cond->of.inst->op != IR_OP_NOT) return;
    struct ir_block *swap = branch->blocks[0];
    branch->blocks[0] = branch->blocks[1];
    branch->blocks[1] = swap;
    branch->operands[0] = cond->of.inst->operands[0];
    f->changed = true;
}

/* Gives the instruction to go on with. */
static struct ir_inst *fold_if(struct fold *f, struct ir_inst *branch)
{
    uint64_t cond;
    if (ir_value_uint(branch->operands[0], &cond)) return take_block(f, branch, branch->blocks[cond ? 0 : 1]);
    swap_blocks_of_not(f, branch);
    assume(f, branch->blocks[0], branch->operands[0], true);
    assume(f, branch->blocks[1], branch->operands[0], false);
    fold_if_results(f, branch);
    return can_select(branch) ? to_selects(f, branch) : branch->next;
}

/* ---- loop ---- */

struct round_trip {
    const struct ir_inst *loop;
    uint32_t index;
    enum ir_op op; /* of the exits looked at */
    struct agreement agreement;
    uint32_t n_exits;
};

static void see_exit(struct ir_inst *inst, void *data)
{
    struct round_trip *r = data;
    r->n_exits++;
    if (inst->op != r->op) return;
    struct ir_value *v = inst->operands[r->index];
    if (r->op == IR_OP_CONTINUE && v == r->loop->blocks[0]->args[r->index]) return;
    agree(&r->agreement, v);
}

/* A parameter of the loop that each round passes on as it came. */
static void fold_args(struct fold *f, struct ir_inst *loop)
{
    for (uint32_t i = 0; i < loop->n_operands; i++) {
        struct ir_value *init = loop->operands[i];
        struct round_trip r = {.loop = loop, .index = i, .op = IR_OP_CONTINUE, .agreement.value = init};
        if (init->kind == IR_VALUE_UNDEF) continue;
        pass_walk_exits(loop->blocks[0], see_exit, &r);
        if (!r.agreement.failed) replace_carried(f, loop->blocks[0]->args[i], init);
    }
}

static void fold_loop_results(struct fold *f, struct ir_inst *loop)
{
    for (uint32_t i = 0; i < loop->n_results; i++) {
        struct round_trip r = {.loop = loop, .index = i, .op = IR_OP_BREAK};
        pass_walk_exits(loop->blocks[0], see_exit, &r);
        struct ir_value *v = r.agreement.value;
        if (v && !r.agreement.failed && !pass_is_inside(v, loop)) replace_carried(f, loop->results[i], v);
    }
}

/* The body runs once: its only way out is the break at its end. */
static bool is_one_round(struct ir_inst *loop)
{
    struct round_trip r = {.loop = loop, .op = IR_OP_COUNT};
    pass_walk_exits(loop->blocks[0], see_exit, &r);
    return r.n_exits == 1 && loop->blocks[0]->last->op == IR_OP_BREAK && !pass_leaves(loop);
}

static struct ir_inst *take_body(struct fold *f, struct ir_inst *loop)
{
    struct ir_block *body = loop->blocks[0];
    struct ir_inst *next = loop->next;
    for (uint32_t i = 0; i < body->n_args; i++) ir_replace_uses(body, body->args[i], loop->operands[i]);
    for (uint32_t i = 0; i < loop->n_results; i++) replace(f, loop->results[i], body->last->operands[i]);
    pass_move_body(body->first, loop);
    ir_inst_remove(loop);
    return next;
}

static struct ir_inst *fold_loop(struct fold *f, struct ir_inst *loop)
{
    fold_args(f, loop);
    fold_block(f, loop->blocks[0]);
    fold_loop_results(f, loop);
    return is_one_round(loop) ? take_body(f, loop) : loop->next;
}

/* ---- the walk ---- */

static void fold_pure(struct fold *f, struct ir_inst *inst)
{
    struct ir_value *v;
    bool simpler;
    do {
        simpler = false;
        v = fold_inst(inst, &simpler);
        f->changed |= simpler;
    } while (!v && simpler);
    if (!v || !inst->results[0]->scratch) return;
    replace(f, inst->results[0], v);
    ir_inst_remove(inst);
}

static void fold_block(struct fold *f, struct ir_block *block)
{
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        pass_map_operands(&f->map, inst);
        next = inst->next;
        if (inst->op == IR_OP_IF) {
            next = fold_if(f, inst);
        } else if (inst->op == IR_OP_LOOP) {
            next = fold_loop(f, inst);
        } else if (pass_is_pure(inst) && inst->n_results == 1) {
            fold_pure(f, inst);
        }
    }
}

static bool run_fold(struct ir_function *fn)
{
    struct fold f = {.module = fn->module, .uses = pass_count_uses(fn)};
    pass_map_init(&f.map, fn);
    fold_block(&f, fn->body);
    free(f.uses);
    pass_map_clear(&f.map);
    return f.changed;
}

const struct pass pass_fold = {"fold", "constants and exact identities", run_fold};
