/*
 * Early returns made into plain control flow.
 *
 * Loops come first: a return inside one becomes a break that carries a flag and the returned value, and
 * the loop is followed by "if flag, return". Then only ifs hold returns, and what follows such an if
 * moves into the branch that goes on. Where that is neither of the two for sure, because a return sits
 * deeper inside, the if gets a flag as a result too. A function of many early returns becomes a loop of
 * one round instead, which each of them breaks.
 */
#include "fuser/passes/exits.h"
#include "fuser/passes/util.h"

/* How a block ends once the returns are gone from it. */
enum ending {
    NEVER_RETURNS,     /* yield or unreachable, as before */
    ALWAYS_RETURNS,    /* yield of the returned value (or unreachable) */
    SOMETIMES_RETURNS, /* yield of: flag, returned value, what was yielded before */
};

struct exits {
    struct ir_function *f;
    uint32_t n_values; /* of a return: 0 or 1 */
};

static struct ir_value *undef(const struct exits *x, ir_type t)
{
    return ir_undef(x->f->module, t);
}

static bool holds_return(const struct ir_inst *inst)
{
    return inst->blocks[0] && pass_contains(inst, IR_OP_RETURN);
}

/* ---- loops ---- */

struct loop_exits {
    const struct exits *x;
    uint32_t n_results; /* of the loop as it was */
    bool has_break;
    const struct ir_inst *loop;
};

static void find_break(struct ir_inst *inst, void *data)
{
    struct loop_exits *e = data;
    e->has_break |= inst->op == IR_OP_BREAK;
}

/* Return: becomes a break with the flag set. Break: gets the flag cleared. */
static void flag_exit(struct ir_inst *inst, void *data)
{
    const struct loop_exits *e = data;
    const struct exits *x = e->x;
    struct ir_value *returned = inst->op == IR_OP_RETURN && x->n_values ? inst->operands[0] : NULL;
    if (inst->op == IR_OP_CONTINUE) return;
    if (inst->op == IR_OP_RETURN) {
        pass_operands_set(inst, NULL, 0);
        for (uint32_t i = 0; i < e->n_results; i++) pass_operand_add(inst, undef(x, e->loop->results[i]->type));
    }
    pass_operand_add(inst, ir_const_bool(x->f->module, inst->op == IR_OP_RETURN));
    if (x->n_values) pass_operand_add(inst, returned ? returned : undef(x, x->f->result));
    inst->op = IR_OP_BREAK;
}

static void return_to_break(struct ir_inst *inst, void *data)
{
    (void)data;
    if (inst->op == IR_OP_RETURN) inst->op = IR_OP_BREAK;
}

static struct ir_builder builder_after(struct ir_inst *inst)
{
    struct ir_builder b = inst->next ? ir_builder_before(inst->next) : ir_builder_at_end(inst->parent);
    b.loc = inst->loc;
    return b;
}

/* A loop that is left by returns only: its results are the returned value, and nothing behind it is reached. */
static void end_in_loop(const struct exits *x, struct ir_inst *loop)
{
    pass_walk_exits(loop->blocks[0], return_to_break, NULL);
    pass_cut_tail(loop->next);
    while (loop->n_results) pass_result_remove(loop, 0);
    if (x->n_values) pass_result_add(loop, x->f->result);
    struct ir_builder b = builder_after(loop);
    ir_build(&b, IR_OP_RETURN, IR_VOID, loop->results, loop->n_results);
}

static void split_loop(const struct exits *x, struct ir_inst *loop)
{
    struct loop_exits e = {.x = x, .n_results = loop->n_results, .loop = loop};
    pass_walk_exits(loop->blocks[0], find_break, &e);
    if (!e.has_break) {
        end_in_loop(x, loop);
        return;
    }
    pass_walk_exits(loop->blocks[0], flag_exit, &e);
    struct ir_value *flag = pass_result_add(loop, IR_BOOL);
    struct ir_value *value = x->n_values ? pass_result_add(loop, x->f->result) : NULL;
    struct ir_builder b = builder_after(loop);
    struct ir_inst *branch = ir_build_if(&b, flag, NULL, 0);
    struct ir_builder in = ir_builder_at_end(branch->blocks[0]);
    in.loc = loop->loc;
    ir_build(&in, IR_OP_RETURN, IR_VOID, &value, x->n_values);
    in = ir_builder_at_end(branch->blocks[1]);
    in.loc = loop->loc;
    ir_build(&in, IR_OP_YIELD, IR_VOID, NULL, 0);
}

/* Inner loops before outer ones. */
static void split_loops(const struct exits *x, struct ir_block *block)
{
    for (struct ir_inst *inst = block->first; inst; inst = inst->next) {
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) split_loops(x, inst->blocks[b]);
        if (inst->op == IR_OP_LOOP && holds_return(inst)) split_loop(x, inst);
    }
}

/* ---- ifs ---- */

/* Brings the end of a branch into the form of SOMETIMES_RETURNS; `yielded` are the values (of that type
   list) it would have yielded. */
static void widen(const struct exits *x, struct ir_block *branch, enum ending ending, struct ir_value *const *yielded,
                  uint32_t n)
{
    struct ir_inst *end = branch->last;
    if (end->op != IR_OP_YIELD || ending == SOMETIMES_RETURNS) return;
    struct ir_value **old = end->operands;
    bool returns = ending == ALWAYS_RETURNS;
    pass_operands_set(end, NULL, 0);
    pass_operand_add(end, ir_const_bool(x->f->module, returns));
    if (x->n_values) pass_operand_add(end, returns ? old[0] : undef(x, x->f->result));
    for (uint32_t i = 0; i < n; i++) pass_operand_add(end, returns ? undef(x, yielded[i]->type) : old[i]);
}

static void clear_results(struct ir_inst *inst)
{
    while (inst->n_results) pass_result_remove(inst, inst->n_results - 1);
}

static void yield_results(struct ir_inst *branch)
{
    struct ir_builder b = ir_builder_at_end(branch->parent);
    b.loc = branch->loc;
    ir_build(&b, IR_OP_YIELD, IR_VOID, branch->results, branch->n_results);
}

/* Nothing goes on behind the if, the last of its block: it yields the returned value. */
static enum ending end_always(const struct exits *x, struct ir_inst *branch)
{
    clear_results(branch);
    if (x->n_values) pass_result_add(branch, x->f->result);
    yield_results(branch);
    return ALWAYS_RETURNS;
}

/* The if is the last of its block: one of its blocks always returns, the other ends as `ending` says. */
static enum ending end_joined(const struct exits *x, struct ir_inst *branch, int on, enum ending ending)
{
    struct ir_block *returning = branch->blocks[!on], *going = branch->blocks[on];
    if (ending == ALWAYS_RETURNS || going->last->op != IR_OP_YIELD) return end_always(x, branch);
    uint32_t extra = ending == SOMETIMES_RETURNS ? 1 + x->n_values : 0;
    struct ir_value **yielded = going->last->operands + extra;
    uint32_t n = going->last->n_operands - extra;
    widen(x, returning, ALWAYS_RETURNS, yielded, n);
    widen(x, going, ending, yielded, n);
    clear_results(branch);
    for (uint32_t i = 0; i < going->last->n_operands; i++) pass_result_add(branch, going->last->operands[i]->type);
    yield_results(branch);
    return SOMETIMES_RETURNS;
}

static enum ending flatten(const struct exits *x, struct ir_block *block, struct ir_inst *from);

/* Block `on` of the if goes on, the other returns: what follows the if moves into `on`. */
static enum ending move_rest_inside(const struct exits *x, struct ir_inst *branch, int on)
{
    struct ir_block *going = branch->blocks[on];
    struct ir_inst *yield = going->last, *rest = branch->next;
    for (uint32_t i = 0; i < branch->n_results; i++)
        ir_replace_uses(branch->parent, branch->results[i], yield->operands[i]);
    ir_inst_remove(yield);
    pass_move_tail(rest, going);
    return end_joined(x, branch, on, flatten(x, going, rest));
}

/* The if may return from the inside: it tells so by a flag, and what follows goes under that flag. */
static enum ending put_rest_under_flag(const struct exits *x, struct ir_inst *branch, const enum ending endings[2])
{
    uint32_t n = branch->n_results;
    for (int b = 0; b < 2; b++) widen(x, branch->blocks[b], endings[b], branch->results, n);
    /* The results the if had come last, so they keep their uses. */
    struct ir_value **old = branch->results;
    branch->n_results = 0;
    branch->results = NULL;
    struct ir_value *flag = pass_result_add(branch, IR_BOOL);
    struct ir_value *value = x->n_values ? pass_result_add(branch, x->f->result) : NULL;
    for (uint32_t i = 0; i < n; i++) pass_result_adopt(branch, old[i]);
    struct ir_inst *rest = branch->next;
    struct ir_builder b = ir_builder_before(rest);
    b.loc = branch->loc;
    struct ir_inst *guard = ir_build_if(&b, flag, NULL, 0);
    struct ir_builder in = ir_builder_at_end(guard->blocks[0]);
    in.loc = branch->loc;
    ir_build(&in, IR_OP_YIELD, IR_VOID, &value, x->n_values);
    pass_move_tail(rest, guard->blocks[1]);
    return end_joined(x, guard, 1, flatten(x, guard->blocks[1], rest));
}

static bool goes_on(const struct ir_block *block, enum ending ending)
{
    return ending != ALWAYS_RETURNS && block->last->op == IR_OP_YIELD;
}

static enum ending flatten_if(const struct exits *x, struct ir_inst *branch)
{
    enum ending endings[2];
    for (int b = 0; b < 2; b++) endings[b] = flatten(x, branch->blocks[b], branch->blocks[b]->first);
    bool on[2] = {goes_on(branch->blocks[0], endings[0]), goes_on(branch->blocks[1], endings[1])};
    if (!on[0] && !on[1]) {
        pass_cut_tail(branch->next);
        return end_always(x, branch);
    }
    for (int b = 0; b < 2; b++)
        if (!on[!b] && endings[b] == NEVER_RETURNS) return move_rest_inside(x, branch, b);
    return put_rest_under_flag(x, branch, endings);
}

/* Takes the returns out of a block that is in no loop, looking from instruction `from` on. */
static enum ending flatten(const struct exits *x, struct ir_block *block, struct ir_inst *from)
{
    for (struct ir_inst *inst = from; inst; inst = inst->next)
        if (holds_return(inst)) return flatten_if(x, inst);
    if (block->last->op != IR_OP_RETURN) return NEVER_RETURNS;
    block->last->op = IR_OP_YIELD;
    return ALWAYS_RETURNS;
}

/* ---- many returns ---- */

/* Each early return costs a level of nesting; beyond these the body becomes a loop of one round instead. */
enum { MAX_NESTED_RETURNS = 16 };

static void count_return(struct ir_inst *inst, void *data)
{
    *(uint32_t *)data += inst->op == IR_OP_RETURN;
}

static void put_in_loop(const struct exits *x)
{
    struct ir_block *body = x->f->body;
    struct ir_builder b = ir_builder_before(body->first);
    struct ir_inst *first = body->first;
    struct ir_inst *loop = ir_build_loop(&b, NULL, 0, &x->f->result, x->n_values);
    pass_move_tail(first, loop->blocks[0]);
    end_in_loop(x, loop);
}

void exits_make_single(struct ir_function *f)
{
    struct exits x = {.f = f, .n_values = f->result != IR_VOID};
    uint32_t n_returns = 0;
    split_loops(&x, f->body);
    pass_walk_exits(f->body, count_return, &n_returns);
    if (n_returns > MAX_NESTED_RETURNS) {
        put_in_loop(&x);
        return;
    }
    flatten(&x, f->body, f->body->first);
    if (f->body->last->op == IR_OP_YIELD) f->body->last->op = IR_OP_RETURN;
}
