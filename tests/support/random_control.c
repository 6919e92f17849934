/* Control flow of random kernels: divergent ifs, bounded loops with several ways out, calls. */
#include "tests/support/random_control.h"

#include <stdlib.h>

enum { MOST_CARRIED = 3 };

static uint32_t below(struct steps *k, uint32_t n)
{
    return rng_below(&k->g.rng, n);
}

static bool chance(struct steps *k, uint32_t percent)
{
    return rng_chance(&k->g.rng, percent);
}

static uint32_t some_types(struct steps *k, ir_type types[MOST_CARRIED])
{
    uint32_t n = below(k, MOST_CARRIED + 1);
    for (uint32_t i = 0; i < n; i++) types[i] = steps_type(k);
    return n;
}

/* A terminator that carries a value for each of n others; first is given, or NULL. */
static void leave(struct steps *k, enum ir_op op, struct ir_value *const *targets, uint32_t n, struct ir_value *first)
{
    struct ir_value *operands[MOST_CARRIED + 1];
    for (uint32_t i = 0; i < n; i++) operands[i] = i || !first ? steps_value(k, targets[i]->type) : first;
    ir_build(&k->g.b, op, IR_VOID, operands, n);
}

static void leave_loop(struct steps *k)
{
    if (chance(k, 50)) {
        leave(k, IR_OP_BREAK, k->loop->results, k->loop->n_results, NULL);
    } else {
        leave(k, IR_OP_CONTINUE, k->loop->blocks[0]->args, k->loop->blocks[0]->n_args, k->next_count);
    }
}

static void end_branch(struct steps *k, const struct ir_inst *inst)
{
    if (k->loop && chance(k, 25)) {
        leave_loop(k);
    } else if (k->f->linkage == IR_LINKAGE_KERNEL && !k->stays && chance(k, 4)) {
        ir_build(&k->g.b, IR_OP_RETURN, IR_VOID, NULL, 0);
    } else {
        leave(k, IR_OP_YIELD, inst->results, inst->n_results, NULL);
    }
}

void control_if(struct steps *k, struct ir_value *condition, control_body *body, uint32_t depth)
{
    ir_type types[MOST_CARRIED];
    uint32_t n = some_types(k, types);
    struct ir_inst *inst = ir_build_if(&k->g.b, condition, types, n);
    struct ir_builder outer = k->g.b;
    size_t n_visible = k->g.n_visible;
    for (int i = 0; i < 2; i++) {
        k->g.b = ir_builder_at_end(inst->blocks[i]);
        k->g.b.loc = outer.loc;
        if (i == 0 || n || chance(k, 60)) body(k, depth + 1);
        end_branch(k, inst);
        k->g.n_visible = n_visible;
        outer.loc = k->g.b.loc;
    }
    k->g.b = outer;
    for (uint32_t i = 0; i < n; i++) gen_define(&k->g, inst->results[i]);
}

/* How often at most: a constant, or a number that differs between work-items. */
static struct ir_value *most_rounds(struct steps *k)
{
    if (chance(k, 50)) return ir_const_int(k->g.m, IR_I32, 1 + below(k, 5));
    struct ir_value *mask = ir_const_int(k->g.m, IR_I32, 3);
    return ir_build2(&k->g.b, IR_OP_AND, IR_I32, steps_value(k, IR_I32), mask);
}

/* The first thing in a loop: out where all rounds are done. */
static void leave_at_end(struct steps *k, const struct ir_inst *loop, struct ir_value *most)
{
    struct ir_value *count = loop->blocks[0]->args[0];
    struct ir_value *done = ir_build2(&k->g.b, IR_OP_UGE, IR_I32, count, most);
    struct ir_inst *inst = ir_build_if(&k->g.b, done, NULL, 0);
    struct ir_builder body = k->g.b;
    size_t n_visible = k->g.n_visible;
    k->g.b = ir_builder_at_end(inst->blocks[0]);
    k->g.b.loc = body.loc;
    leave(k, IR_OP_BREAK, loop->results, loop->n_results, NULL);
    k->g.b = ir_builder_at_end(inst->blocks[1]);
    k->g.b.loc = body.loc;
    ir_build(&k->g.b, IR_OP_YIELD, IR_VOID, NULL, 0);
    k->g.b = body;
    k->g.n_visible = n_visible;
    k->next_count = ir_build2(&k->g.b, IR_OP_ADD, IR_I32, count, ir_const_int(k->g.m, IR_I32, 1));
}

void control_loop(struct steps *k, struct ir_value *most, bool together, control_body *body, uint32_t depth)
{
    ir_type carried[MOST_CARRIED], types[MOST_CARRIED];
    struct ir_value *init[MOST_CARRIED + 1] = {ir_const_int(k->g.m, IR_I32, 0)};
    uint32_t n_init = 1 + some_types(k, carried), n = some_types(k, types);
    for (uint32_t i = 1; i < n_init; i++) init[i] = steps_value(k, carried[i - 1]);
    struct ir_inst *inst = ir_build_loop(&k->g.b, init, n_init, types, n);
    struct ir_builder outer = k->g.b;
    struct ir_inst *outer_loop = k->loop;
    struct ir_value *outer_count = k->next_count;
    size_t n_visible = k->g.n_visible;
    k->loop = together ? NULL : inst;
    k->g.b = ir_builder_at_end(inst->blocks[0]);
    k->g.b.loc = outer.loc;
    for (uint32_t i = 0; i < n_init; i++) gen_define(&k->g, inst->blocks[0]->args[i]);
    leave_at_end(k, inst, most);
    struct ir_value *next = k->next_count;
    body(k, depth + 1);
    leave(k, IR_OP_CONTINUE, inst->blocks[0]->args, n_init, next);
    k->g.n_visible = n_visible;
    outer.loc = k->g.b.loc;
    k->g.b = outer;
    k->loop = outer_loop;
    k->next_count = outer_count;
    for (uint32_t i = 0; i < n; i++) gen_define(&k->g, inst->results[i]);
}

static void call_step(struct steps *k)
{
    struct ir_function *callee = k->g.m->functions[below(k, k->g.m->n_functions)];
    struct ir_value *operands[MOST_CARRIED];
    if (callee == k->f) return;
    for (uint32_t i = 0; i < callee->n_params; i++) operands[i] = steps_value(k, callee->params[i].value->type);
    gen_define(&k->g, ir_build_call(&k->g.b, callee, operands, callee->n_params)->results[0]);
}

void control_step(struct steps *k, uint32_t depth)
{
    if (chance(k, 20)) {
        call_step(k);
    } else if (chance(k, 60)) {
        control_if(k, steps_condition(k), steps_fill, depth);
    } else {
        control_loop(k, most_rounds(k), false, steps_fill, depth);
    }
}
