/*
 * Steps that are the same for all. What a loop of the work-group carries for each work-item, and adds the same to for
 * all of them, as a pointer that walks through a matrix, becomes what it began with and the sum of the steps, which is
 * the group's. So neighbours stay neighbours: what each work-item kept in memory of its own from one barrier to the
 * next would be any address when it is loaded again.
 */
#include "fuser/cpu/prepare/code_passes.h"
#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/prepare/parallel_regions.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/passes/util.h"
#include "ir/core/facts.h"

enum { MOST_STEPS = 16 };

struct carried {
    struct ir_inst *loop;
    uint32_t index;
    const struct uniformity *group;
    ir_type element; /* pointers: what steps are counted in; else the value's type */
    bool even;
    unsigned n_ways; /* continues of the loop */
};

static bool is_uniform(const struct uniformity *group, const struct ir_value *v)
{
    return v->kind <= IR_VALUE_PARAM || group->values[v->scratch].kind == SHAPE_UNIFORM;
}

/* The operand that v is a step away from, and the step; NULL: it is made otherwise. */
static struct ir_value *step_of(const struct uniformity *group, const struct ir_value *v, struct ir_value **step)
{
    if (v->kind != IR_VALUE_RESULT) return NULL;
    const struct ir_inst *inst = v->of.inst;
    if (inst->op != IR_OP_ELEM && inst->op != IR_OP_ADD) return NULL;
    for (unsigned i = 1; i < 2 + (inst->op == IR_OP_ADD); i++) {
        *step = inst->operands[i % 2];
        if (is_uniform(group, *step)) return inst->operands[1 - i % 2];
    }
    return NULL;
}

/* Whether one way back to the loop's beginning brings the value and uniform steps. */
static bool is_even(struct carried *c, const struct ir_value *v)
{
    struct ir_value *step;
    for (unsigned n = 0; n < MOST_STEPS; n++) {
        if (v == c->loop->blocks[0]->args[c->index]) return true;
        const struct ir_value *from = step_of(c->group, v, &step);
        if (!from) return false;
        bool pointer = v->of.inst->op == IR_OP_ELEM;
        if (pointer && (ir_type_bits(step->type) != 64 || (c->element && c->element != v->of.inst->type))) return false;
        if (pointer) c->element = v->of.inst->type;
        v = from;
    }
    return false;
}

static void see_way(struct ir_inst *inst, void *data)
{
    struct carried *c = data;
    if (inst->op != IR_OP_CONTINUE) return;
    c->n_ways++;
    c->even = c->even && is_even(c, inst->operands[c->index]);
}

/* ---- the change ---- */

struct change {
    struct carried carried;
    struct ir_value *sum; /* of the steps, the loop's new argument */
    struct ir_inst **ways;
    unsigned n;
};

static void add_way(struct ir_inst *inst, void *data)
{
    struct change *x = data;
    if (inst->op == IR_OP_CONTINUE) x->ways[x->n++] = inst;
}

/* What the sum is on the way back. */
static struct ir_value *next_sum(const struct change *x, struct ir_inst *way)
{
    const struct ir_value *v = way->operands[x->carried.index];
    struct ir_builder b = ir_builder_before(way);
    struct ir_value *sum = x->sum, *step = NULL;
    while (v != x->carried.loop->blocks[0]->args[x->carried.index]) {
        v = step_of(x->carried.group, v, &step);
        sum = ir_build2(&b, IR_OP_ADD, x->sum->type, sum, step);
    }
    return sum;
}

static void divide(const struct carried *c, struct arena *arena)
{
    struct ir_block *body = c->loop->blocks[0];
    struct ir_value *old = body->args[c->index], *first = c->loop->operands[c->index];
    struct change x = {.carried = *c, .ways = arena_alloc(arena, c->n_ways * sizeof *x.ways)};
    ir_type t = ir_type_is_ptr(old->type) ? IR_I64 : old->type;
    x.sum = pass_arg_add(body, t);
    pass_operand_add(c->loop, ir_const_int(body->function->module, t, 0));
    pass_walk_exits(body, add_way, &x);
    for (unsigned i = 0; i < x.n; i++) pass_operand_add(x.ways[i], next_sum(&x, x.ways[i]));
    struct ir_builder b = ir_builder_before(body->first);
    struct ir_value *operands[2] = {first, x.sum}, *now;
    if (ir_type_is_ptr(old->type))
        now = ir_build_ptr(&b, IR_OP_ELEM, c->element, ir_type_space(old->type), operands, 2)->results[0];
    else
        now = ir_build2(&b, IR_OP_ADD, t, first, x.sum);
    for (unsigned i = 0; i < x.n; i++) x.ways[i]->operands[c->index] = old; /* nobody's any more */
    ir_replace_uses(body, old, now);
    for (unsigned i = 0; i < x.n; i++) pass_operand_remove(x.ways[i], c->index);
    pass_operand_remove(c->loop, c->index);
    pass_arg_remove(body, c->index);
}

/* ---- the search ---- */

struct search {
    struct carried found;
    const struct uniformity *group;
    const bool *grouped;
};

static bool can_be_divided(struct carried *c)
{
    const struct ir_value *arg = c->loop->blocks[0]->args[c->index];
    bool one_number = ir_type_lanes(arg->type) == 1 && (ir_type_is_ptr(arg->type) || ir_type_is_int(arg->type));
    if (!one_number || is_uniform(c->group, arg)) return false;
    pass_walk_exits(c->loop->blocks[0], see_way, c);
    return c->even && c->n_ways && (!ir_type_is_ptr(arg->type) || c->element);
}

static void see_loop(struct ir_inst *inst, void *data)
{
    struct search *s = data;
    if (s->found.loop || inst->op != IR_OP_LOOP || !s->grouped[inst->scratch]) return;
    for (uint32_t i = 0; i < inst->n_operands && !s->found.loop; i++) {
        struct carried c = {.loop = inst, .index = i, .group = s->group, .even = true};
        if (can_be_divided(&c)) s->found = c;
    }
}

static bool divide_one(struct ir_function *kernel)
{
    struct arena *arena = arena_new();
    struct uniformity group;
    uniformity_find(&group, arena, kernel, TOGETHER_GROUP);
    struct search s = {.group = &group, .grouped = parallel_regions_mark(arena, kernel)};
    ir_walk(kernel->body, see_loop, &s);
    if (s.found.loop) divide(&s.found, arena);
    arena_free(arena);
    return s.found.loop;
}

static bool run_even_steps(struct ir_function *kernel)
{
    bool changed = false;
    while (uses_work_group_operations(kernel) && divide_one(kernel)) changed = true;
    return changed;
}

const struct pass pass_even_steps = {
    "even_steps", "what loops of a work-group add for all work-items alike is the group's", run_even_steps};
