/*
 * Rounds of a group. In `for (j = local_id; j < n; j += local_size)` work-items go over a row together, but a vector of
 * them that ran all of its rounds would jump over the row, and each vector of the group again. Here all work-items have
 * one round before any has the next: memory is read in order, as processors fetch it ahead. The loop becomes control
 * flow of the group, which counts for the work-item that comes first,
 *
 *     for (base = 0; base < n; base += local_size)          the same for all
 *         if (base + local_id < n) ...                      for each
 *
 * and what a work-item takes from round to round lies in its own memory (parallel_regions.c). A barrier says where
 * work-items change, though nobody waits there. They may be in any order, and each has its rounds in theirs, so that
 * nothing is computed in another order than before.
 */
#include "fuser/cpu/prepare/code_passes.h"
#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/prepare/parallel_regions.h"
#include "fuser/cpu/prepare/split_guard.h"
#include "fuser/cpu/prepare/strided_loop.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/core/facts.h"

enum { SMALLEST_GROUP = 64 }; /* work-items in x: fewer are few vectors */

struct rounds {
    const struct strided_loop *l;
    const bool *stays; /* by instruction number: what is computed before the loop and cannot be before its guard */
    struct arena *arena;
    struct ir_value *begin, *step, *bound, *guarded; /* in 64 bits; guarded: the condition of the guard, or NULL */
    struct ir_inst *loop;                            /* the new one: base, what is carried, what is left with */
    uint32_t n_carried, n_args;
    uint32_t *place; /* by result of the old loop: its argument in the new one */
};

static struct ir_value *arg_of(const struct rounds *r, uint32_t i)
{
    return r->loop->blocks[0]->args[i];
}

/* The new loop's argument that an old one is. */
static uint32_t arg_place(const struct rounds *r, uint32_t old)
{
    return old < r->l->counter ? old + 1 : old;
}

/* ---- what lies between a guard and the loop ---- */

/* Whether it is computed there by what stays: by instruction number. */
static bool comes_of(const struct strided_loop *l, const bool *stays, const struct ir_value *v)
{
    return v->kind == IR_VALUE_RESULT && v->of.inst->parent == l->exit.loop->parent && stays[v->of.inst->scratch];
}

static struct ir_inst *copy_before(struct ir_inst *inst, struct ir_inst *before)
{
    struct ir_builder b = ir_builder_before(before);
    const struct ir_value *result = inst->results[0];
    struct ir_inst *copy;
    if (ir_type_is_ptr(result->type))
        copy = ir_build_ptr(&b, inst->op, inst->type, ir_type_space(result->type), inst->operands, inst->n_operands);
    else
        copy = ir_build(&b, inst->op, inst->type, inst->operands, inst->n_operands);
    copy->attrs = inst->attrs;
    return copy;
}

/* What is computed under the guard before the loop can be computed before the guard, or, loads of what the kernel only
   reads and what depends on them, in each round again. Those stay where they are. */
static bool can_pass_guard(const struct strided_loop *l, bool *stays)
{
    for (const struct ir_inst *i = l->exit.loop->parent->first; i != l->exit.loop; i = i->next) {
        unsigned flags = ir_op_info(i->op)->flags;
        bool is_load = reads_constant_memory(i), query = ir_op_class(i->op) == IR_CLASS_ND_RANGE;
        if (!is_load && !query && (!(flags & IR_FLAG_PURE) || flags & IR_FLAG_PARTIAL)) return false;
        stays[i->scratch] = is_load;
        for (uint32_t k = 0; k < i->n_operands; k++)
            if (comes_of(l, stays, i->operands[k])) stays[i->scratch] = true;
    }
    for (uint32_t i = 0; i < l->exit.loop->n_operands; i++)
        if (comes_of(l, stays, l->exit.loop->operands[i])) return false;
    return !comes_of(l, stays, l->step) && !comes_of(l, stays, l->bound) &&
           !(l->offset && comes_of(l, stays, l->offset));
}

static void move_before_guard(const struct rounds *r)
{
    for (struct ir_inst *i = r->l->exit.loop->parent->first, *next; i != r->l->exit.loop; i = next) {
        next = i->next;
        if (!r->stays[i->scratch]) ir_inst_move_before(i, r->l->guard);
    }
}

/* What stayed, computed again for the round: the last of it first, so that what it is computed of is replaced in it. */
static void repeat_in_round(const struct rounds *r, struct ir_block *round)
{
    for (struct ir_inst *i = r->l->exit.loop->prev; i; i = i->prev)
        ir_replace_uses(round, i->results[0], copy_before(i, round->first)->results[0]);
}

/* ---- numbers of 64 bits ---- */

static struct ir_value *wide(struct ir_builder *b, struct ir_value *v, bool is_unsigned)
{
    uint64_t bits;
    if (ir_type_bits(v->type) == 64) return v;
    if (ir_value_uint(v, &bits)) return ir_const_int(b->module, IR_I64, is_unsigned ? bits : (uint64_t)(int32_t)bits);
    return ir_build1(b, is_unsigned ? IR_OP_ZEXT : IR_OP_SEXT, IR_I64, v);
}

/* The counter of the work-item whose local id is 0, at first. */
static struct ir_value *begin_of(struct ir_builder *b, const struct strided_loop *l)
{
    struct ir_value *at = ir_const_int(b->module, IR_I64, 0);
    if (l->id->op == IR_OP_GLOBAL_ID) {
        struct ir_value *group = ir_build_id(b, IR_OP_GROUP_ID, 0),
                        *size = ir_build_id(b, IR_OP_ENQUEUED_LOCAL_SIZE, 0);
        at = ir_build2(b, IR_OP_MUL, IR_I64, group, size);
        at = ir_build2(b, IR_OP_ADD, IR_I64, at, ir_build_id(b, IR_OP_GLOBAL_OFFSET, 0));
    }
    return l->offset ? ir_build2(b, IR_OP_ADD, IR_I64, at, l->offset) : at;
}

/* Whether someone whose counter is `at` has the round; `first`: all have the first one. */
static struct ir_value *has_round(struct ir_builder *b, const struct rounds *r, struct ir_value *at,
                                  struct ir_value *first)
{
    const struct strided_loop *l = r->l;
    bool before = !l->exit.tests_first && !l->tests_next; /* what was tested is the counter of the round before */
    enum ir_op less = l->up_to ? IR_OP_SLE : IR_OP_SLT;
    /* Of 64 bits that are unsigned, all that count through memory are positive. */
    if (l->is_unsigned && ir_type_bits(l->bound->type) == 64) less = l->up_to ? IR_OP_ULE : IR_OP_ULT;
    if (before) at = ir_build2(b, IR_OP_SUB, IR_I64, at, r->step);
    struct ir_value *c = ir_build2(b, less, IR_I64, at, r->bound);
    return first ? ir_build2(b, IR_OP_OR, IR_BOOL, first, c) : c;
}

/* ---- the new loop ---- */

/* The loop's arguments: where it counts, what it carried, and what it is left with that it did not carry. */
static void make_loop(struct rounds *r, struct ir_builder *b)
{
    const struct strided_loop *l = r->l;
    uint32_t most = l->exit.loop->n_operands + l->exit.loop->n_results;
    struct ir_value **init = arena_alloc(r->arena, most * sizeof *init);
    ir_type *types = arena_alloc(r->arena, most * sizeof *types);
    r->place = arena_alloc(r->arena, (l->exit.loop->n_results + 1) * sizeof *r->place);
    init[0] = r->begin;
    for (uint32_t i = 0; i < l->exit.loop->n_operands; i++)
        if (i != l->counter) init[arg_place(r, i)] = l->exit.loop->operands[i];
    r->n_carried = r->n_args = l->exit.loop->n_operands;
    for (uint32_t i = 0; i < l->exit.loop->n_results; i++) {
        const struct ir_value *v = l->exit.out->operands[i];
        for (uint32_t k = 0; k < l->exit.loop->n_operands && !r->place[i]; k++)
            if (k != l->counter &&
                v == (l->exit.tests_first ? l->exit.loop->blocks[0]->args[k] : l->exit.on->operands[k]))
                r->place[i] = arg_place(r, k);
        if (r->place[i] || l->exit.tests_first) continue;
        init[r->n_args] = ir_undef(b->module, v->type);
        r->place[i] = r->n_args++;
    }
    for (uint32_t i = 1; i < r->n_args; i++) types[i - 1] = init[i]->type;
    r->loop = ir_build_loop(b, init, r->n_args, types, r->n_args - 1);
}

static void build_yield(const struct rounds *r, struct ir_block *block, struct ir_value *const *values)
{
    struct ir_builder b = ir_builder_at_end(block);
    ir_build(&b, IR_OP_YIELD, IR_VOID, values, r->n_args - 1);
}

/* What a work-item does in its round, in a block of its own that gives what it carries on. */
static void move_round(const struct rounds *r, struct ir_block *to, struct ir_value *counter)
{
    const struct strided_loop *l = r->l;
    const struct ir_block *body = l->exit.loop->blocks[0];
    struct ir_value **values = arena_alloc(r->arena, r->n_args * sizeof *values);
    for (uint32_t i = 0; i < l->exit.loop->n_operands; i++)
        if (i != l->counter) values[arg_place(r, i) - 1] = l->exit.on->operands[i];
    for (uint32_t i = 0; i < l->exit.loop->n_results; i++)
        if (r->place[i] >= r->n_carried) values[r->place[i] - 1] = l->exit.out->operands[i];
    build_yield(r, to, values);
    pass_move_body(body->first, to->last);
    if (l->exit.on->parent != body) pass_move_body(l->exit.on->parent->first, l->exit.test);
    ir_inst_remove(l->exit.test);
    if (l->guard) repeat_in_round(r, to);
    for (uint32_t i = 0; i < body->n_args; i++)
        ir_replace_uses(to, body->args[i], i == l->counter ? counter : arg_of(r, arg_place(r, i)));
}

static void fill_loop(const struct rounds *r)
{
    const struct strided_loop *l = r->l;
    struct ir_block *body = r->loop->blocks[0];
    struct ir_builder b = ir_builder_at_end(body);
    struct ir_value *base = arg_of(r, 0), *first = NULL;
    if (!l->exit.tests_first && !l->guard_is_test) first = ir_build2(&b, IR_OP_IEQ, IR_I64, base, r->begin);
    struct ir_inst *ends = ir_build_if(&b, has_round(&b, r, base, first), NULL, 0);
    struct ir_builder goes_on = ir_builder_at_end(ends->blocks[0]), leaves = ir_builder_at_end(ends->blocks[1]);
    ir_build(&goes_on, IR_OP_YIELD, IR_VOID, NULL, 0);
    ir_build(&leaves, IR_OP_BREAK, IR_VOID, body->args + 1, r->n_args - 1);
    ir_build(&b, IR_OP_BARRIER, IR_VOID, NULL, 0)->attrs.scope = IR_SCOPE_WORK_GROUP;

    struct ir_value *at = ir_build2(&b, IR_OP_ADD, IR_I64, base, ir_build_id(&b, IR_OP_LOCAL_ID, 0));
    struct ir_value *mine = has_round(&b, r, at, first), *counter = at;
    if (r->guarded) mine = ir_build2(&b, IR_OP_AND, IR_BOOL, r->guarded, mine);
    ir_type type = l->exit.loop->operands[l->counter]->type;
    if (ir_type_bits(type) < 64) counter = ir_build1(&b, IR_OP_ITRUNC, type, at);
    ir_type *types = arena_alloc(r->arena, r->n_args * sizeof *types);
    for (uint32_t i = 1; i < r->n_args; i++) types[i - 1] = arg_of(r, i)->type;
    struct ir_inst *round = ir_build_if(&b, mine, types, r->n_args - 1);
    move_round(r, round->blocks[0], counter);
    build_yield(r, round->blocks[1], body->args + 1);

    struct ir_value **next = arena_alloc(r->arena, r->n_args * sizeof *next);
    next[0] = ir_build2(&b, IR_OP_ADD, IR_I64, base, r->step);
    for (uint32_t i = 1; i < r->n_args; i++) next[i] = round->results[i - 1];
    ir_build(&b, IR_OP_CONTINUE, IR_VOID, next, r->n_args);
}

static void replace_results(const struct rounds *r, struct ir_function *kernel)
{
    const struct strided_loop *l = r->l;
    for (uint32_t i = 0; i < l->exit.loop->n_results; i++)
        ir_replace_uses(kernel->body, l->exit.loop->results[i],
                        r->place[i] ? r->loop->results[r->place[i] - 1] : l->exit.out->operands[i]);
}

static void make_rounds(struct ir_function *kernel, const struct strided_loop *l, const bool *stays)
{
    struct rounds r = {.l = l, .stays = stays, .arena = arena_new()};
    if (l->guard) move_before_guard(&r);
    struct ir_builder b = ir_builder_before(l->guard ? l->guard : l->exit.loop);
    r.begin = begin_of(&b, l);
    r.step = wide(&b, l->step, false);
    r.bound = wide(&b, l->bound, l->is_unsigned);
    if (l->guard && !l->guard_is_test) r.guarded = l->guard->operands[0];
    if (r.guarded && l->exit.loop->parent == l->guard->blocks[1])
        r.guarded = ir_build1(&b, IR_OP_NOT, IR_BOOL, r.guarded);
    make_loop(&r, &b);
    replace_results(&r, kernel);
    fill_loop(&r);
    ir_inst_remove(l->exit.loop);
    arena_free(r.arena);
}

/* ---- which loops ---- */

struct candidates {
    struct strided_search search;
    struct strided_loop found;
    bool *stays; /* as in struct rounds */
    bool any, prevented;
    bool splits; /* what else is behind the guard of the one that was found is taken apart from it */
};

static void see_return(struct ir_inst *inst, void *data)
{
    struct candidates *c = data;
    if (inst->op != IR_OP_RETURN) return;
    for (const struct ir_inst *i = inst->parent->parent; i; i = i->parent->parent)
        if (c->search.group.divergent[i->scratch]) c->prevented = true;
}

static void see_loop(struct ir_inst *inst, void *data)
{
    struct candidates *c = data;
    if (c->any || inst->op != IR_OP_LOOP) return;
    if (!strided_loop_find(&c->search, inst, &c->found)) return;
    const struct ir_inst *guard = c->found.guard;
    c->splits = guard && !can_pass_guard(&c->found, c->stays);
    c->any = !c->splits || guard_can_split(guard, inst);
}

/* Whether a loop is left, and then made rounds of the group. */
static bool make_some(struct ir_function *kernel)
{
    struct arena *arena = arena_new();
    struct candidates c = {.search.kernel = kernel};
    uniformity_find(&c.search.row, arena, kernel, TOGETHER_ROW);
    uniformity_find(&c.search.group, arena, kernel, TOGETHER_GROUP);
    c.stays = arena_alloc(arena, c.search.row.n_insts + 1);
    ir_walk(kernel->body, see_return, &c);
    if (!c.prevented) ir_walk(kernel->body, see_loop, &c);
    if (c.any && c.splits) c.found.guard = guard_split(c.found.guard, c.found.exit.loop);
    if (c.any) make_rounds(kernel, &c.found, c.stays);
    arena_free(arena);
    return c.any;
}

static void see_obstacle(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_VAR) *(bool *)data = true;
}

/* Private variables of kernels without barriers stay on the stack. */
static bool is_possible(const struct ir_function *kernel)
{
    bool variables = false;
    ir_walk(kernel->body, see_obstacle, &variables);
    return kernel->work_group_size[0] >= SMALLEST_GROUP && !uses_sub_groups(kernel) &&
           (!variables || uses_work_group_operations(kernel));
}

static bool run_group_rounds(struct ir_function *kernel)
{
    bool changed = false;
    while (is_possible(kernel) && make_some(kernel)) changed = true;
    if (changed) pass_dce.run(kernel);
    return changed;
}

const struct pass pass_group_rounds = {
    "group_rounds", "rounds that work-items have together, as they go over a row, are the group's", run_group_rounds};
