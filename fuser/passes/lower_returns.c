/*
 * Early exits made into plain control flow: returns of a function, continues of a loop, all that leaves an if.
 *
 * Returns in loops come first: such a return becomes a break that carries a flag and the returned value, and
 * the loop is followed by "if flag, return". Then only ifs hold exits, and what follows such an if
 * moves into the branch that goes on. Where that is neither of the two for sure, because an exit sits
 * deeper inside, the if gets a flag as a result too. A function of many early returns becomes a loop of
 * one round instead, which each of them breaks.
 */
#include "fuser/passes/lower_returns.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

/* How a block ends once the exits are gone from it. */
enum ending {
    NEVER_EXITS,     /* yield or another terminator, as before */
    ALWAYS_EXITS,    /* yield of the exit's values (or another terminator) */
    SOMETIMES_EXITS, /* yield of: flag, the exit's values, what was yielded before */
};

struct exits {
    struct ir_function *f;
    enum ir_op op;        /* return, break or continue: what is taken out */
    uint32_t n_values;    /* that it carries */
    const ir_type *types; /* of them */
};

static struct ir_value *undef(const struct exits *x, ir_type t)
{
    return ir_undef(x->f->module, t);
}

static bool holds_return(const struct ir_inst *inst)
{
    return inst->blocks[0] && pass_contains(inst, IR_OP_RETURN);
}

/* The instruction is an if, and the exit stands in one of its branches; those of inner loops are not this exit. */
static bool holds_exit(const struct exits *x, const struct ir_inst *inst)
{
    if (inst->op != IR_OP_IF) return false;
    for (int b = 0; b < 2; b++)
        for (const struct ir_inst *i = inst->blocks[b]->first; i; i = i->next)
            if (i->op == x->op || holds_exit(x, i)) return true;
    return false;
}

/* ---- returns in loops ---- */

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

/* Brings the end of a branch into the form of SOMETIMES_EXITS; `yielded` are the values (of that type
   list) it would have yielded. */
static void widen(const struct exits *x, struct ir_block *branch, enum ending ending, struct ir_value *const *yielded,
                  uint32_t n)
{
    struct ir_inst *end = branch->last;
    if (end->op != IR_OP_YIELD || ending == SOMETIMES_EXITS) return;
    struct ir_value **old = end->operands;
    bool exits = ending == ALWAYS_EXITS;
    pass_operands_set(end, NULL, 0);
    pass_operand_add(end, ir_const_bool(x->f->module, exits));
    for (uint32_t i = 0; i < x->n_values; i++) pass_operand_add(end, exits ? old[i] : undef(x, x->types[i]));
    for (uint32_t i = 0; i < n; i++) pass_operand_add(end, exits ? undef(x, yielded[i]->type) : old[i]);
}

static void clear_results(struct ir_inst *inst)
{
    while (inst->n_results) pass_result_remove(inst, inst->n_results - 1);
}

static void add_values(const struct exits *x, struct ir_inst *branch)
{
    for (uint32_t i = 0; i < x->n_values; i++) pass_result_add(branch, x->types[i]);
}

static void yield_results(struct ir_inst *branch)
{
    struct ir_builder b = ir_builder_at_end(branch->parent);
    b.loc = branch->loc;
    ir_build(&b, IR_OP_YIELD, IR_VOID, branch->results, branch->n_results);
}

/* Nothing goes on behind the if, the last of its block: it yields the exit's values. */
static enum ending end_always(const struct exits *x, struct ir_inst *branch)
{
    clear_results(branch);
    add_values(x, branch);
    yield_results(branch);
    return ALWAYS_EXITS;
}

/* The if is the last of its block: one of its blocks always exits, the other ends as `ending` says. */
static enum ending end_joined(const struct exits *x, struct ir_inst *branch, int on, enum ending ending)
{
    struct ir_block *returning = branch->blocks[!on], *going = branch->blocks[on];
    if (ending == ALWAYS_EXITS || going->last->op != IR_OP_YIELD) return end_always(x, branch);
    uint32_t extra = ending == SOMETIMES_EXITS ? 1 + x->n_values : 0;
    struct ir_value **yielded = going->last->operands + extra;
    uint32_t n = going->last->n_operands - extra;
    widen(x, returning, ALWAYS_EXITS, yielded, n);
    widen(x, going, ending, yielded, n);
    clear_results(branch);
    for (uint32_t i = 0; i < going->last->n_operands; i++) pass_result_add(branch, going->last->operands[i]->type);
    yield_results(branch);
    return SOMETIMES_EXITS;
}

static enum ending flatten(const struct exits *x, struct ir_block *block, struct ir_inst *from);

/* Block `on` of the if goes on, the other exits: what follows the if moves into `on`. */
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

/* The exit sits deeper inside the if: it tells so by a flag, and what follows goes under that flag. */
static enum ending put_rest_under_flag(const struct exits *x, struct ir_inst *branch, const enum ending endings[2])
{
    uint32_t n = branch->n_results;
    for (int b = 0; b < 2; b++) widen(x, branch->blocks[b], endings[b], branch->results, n);
    /* The results the if had come last, so they keep their uses. */
    struct ir_value **old = branch->results;
    branch->n_results = 0;
    branch->results = NULL;
    struct ir_value *flag = pass_result_add(branch, IR_BOOL);
    add_values(x, branch);
    for (uint32_t i = 0; i < n; i++) pass_result_adopt(branch, old[i]);
    struct ir_value **values = branch->results + 1;
    struct ir_inst *rest = branch->next;
    struct ir_builder b = ir_builder_before(rest);
    b.loc = branch->loc;
    struct ir_inst *guard = ir_build_if(&b, flag, NULL, 0);
    struct ir_builder in = ir_builder_at_end(guard->blocks[0]);
    in.loc = branch->loc;
    ir_build(&in, IR_OP_YIELD, IR_VOID, values, x->n_values);
    pass_move_tail(rest, guard->blocks[1]);
    return end_joined(x, guard, 1, flatten(x, guard->blocks[1], rest));
}

static bool goes_on(const struct ir_block *block, enum ending ending)
{
    return ending != ALWAYS_EXITS && block->last->op == IR_OP_YIELD;
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
        if (!on[!b] && endings[b] == NEVER_EXITS) return move_rest_inside(x, branch, b);
    return put_rest_under_flag(x, branch, endings);
}

/* Takes the exits out of a block whose ifs hold them, looking from instruction `from` on. */
static enum ending flatten(const struct exits *x, struct ir_block *block, struct ir_inst *from)
{
    for (struct ir_inst *inst = from; inst; inst = inst->next)
        if (holds_exit(x, inst)) return flatten_if(x, inst);
    if (block->last->op != x->op) return NEVER_EXITS;
    block->last->op = IR_OP_YIELD;
    return ALWAYS_EXITS;
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

static void lower_returns(struct ir_function *f)
{
    struct exits x = {.f = f, .op = IR_OP_RETURN, .n_values = f->result != IR_VOID, .types = &f->result};
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

static bool returns_early(const struct ir_function *f)
{
    uint32_t n_returns = 0;
    ir_walk(f->body, count_return, &n_returns);
    return n_returns > (f->body->last && f->body->last->op == IR_OP_RETURN);
}

static bool run_lower_returns(struct ir_function *f)
{
    if (!returns_early(f)) return false;
    lower_returns(f);
    return true;
}

const struct pass pass_lower_returns = {"lower_returns", "early returns become plain control flow", run_lower_returns};

void lower_loop_exits(struct ir_inst *loop, enum ir_op op)
{
    struct ir_block *body = loop->blocks[0];
    struct ir_value **values = op == IR_OP_CONTINUE ? body->args : loop->results;
    uint32_t n = op == IR_OP_CONTINUE ? body->n_args : loop->n_results;
    struct ir_function *f = loop->parent->function;
    ir_type *types = ir_alloc(f->module, (n + 1) * sizeof *types);
    for (uint32_t i = 0; i < n; i++) types[i] = values[i]->type;
    struct exits x = {.f = f, .op = op, .n_values = n, .types = types};
    flatten(&x, body, body->first);
    if (body->last->op == IR_OP_YIELD) body->last->op = op;
}

/* ---- all that leaves an if ---- */

/* The breaks and continues in an if, which become one kind of exit: which of them, and the values of both. */
struct lift {
    struct exits x;
    bool kinds[2]; /* there are breaks, continues */
    ir_type *types;
    uint32_t first[2], n[2]; /* their values among those of the exit */
};

static int kind_of(enum ir_op op)
{
    return op == IR_OP_CONTINUE;
}

static void see_kind(struct ir_inst *inst, void *data)
{
    ((struct lift *)data)->kinds[kind_of(inst->op)] = true;
}

static void add_types(struct lift *l, int kind, struct ir_value *const *values, uint32_t n)
{
    l->first[kind] = l->x.n_values;
    l->n[kind] = l->kinds[kind] ? n : 0;
    for (uint32_t i = 0; i < l->n[kind]; i++) l->types[l->x.n_values++] = values[i]->type;
}

/* Becomes a return, of which there are no others: the values of its kind in their places, the others undefined. */
static void make_exit(struct ir_inst *inst, void *data)
{
    const struct lift *l = data;
    int kind = kind_of(inst->op);
    struct ir_value **old = inst->operands;
    pass_operands_set(inst, NULL, 0);
    for (uint32_t i = 0; i < l->x.n_values; i++) {
        bool own = i >= l->first[kind] && i < l->first[kind] + l->n[kind];
        struct ir_value *v = own ? old[i - l->first[kind]] : undef(&l->x, l->types[i]);
        if (i == 0 && l->types[0] == IR_BOOL && l->kinds[0] && l->kinds[1]) v = ir_const_bool(l->x.f->module, kind);
        pass_operand_add(inst, v);
    }
    inst->op = IR_OP_RETURN;
}

/* "if condition: break or continue", before `rest`, or without a condition at the end of the block. */
static void build_exit(const struct lift *l, struct ir_builder *b, int kind, struct ir_value *condition,
                       struct ir_value *const *values)
{
    struct ir_builder in = *b;
    if (condition) {
        struct ir_inst *branch = ir_build_if(b, condition, NULL, 0);
        struct ir_builder other = ir_builder_at_end(branch->blocks[1]);
        in = ir_builder_at_end(branch->blocks[0]);
        in.loc = other.loc = b->loc;
        ir_build(&other, IR_OP_YIELD, IR_VOID, NULL, 0);
    }
    ir_build(&in, kind ? IR_OP_CONTINUE : IR_OP_BREAK, IR_VOID, (struct ir_value **)values + l->first[kind],
             l->n[kind]);
}

/* Behind the if, whose exits have become values: the exits themselves. flag NULL: it always exits. */
static void build_exits(const struct lift *l, struct ir_builder *b, struct ir_value *flag,
                        struct ir_value *const *values)
{
    if (!l->kinds[0] || !l->kinds[1]) {
        build_exit(l, b, l->kinds[1], flag, values);
        return;
    }
    struct ir_value *goes_on = values[0], *leaves = ir_build1(b, IR_OP_NOT, IR_BOOL, goes_on);
    if (flag) leaves = ir_build2(b, IR_OP_AND, IR_BOOL, flag, leaves);
    build_exit(l, b, 0, leaves, values);
    if (flag) flag = ir_build2(b, IR_OP_AND, IR_BOOL, flag, goes_on);
    build_exit(l, b, 1, flag, values);
}

static void find_exits(struct lift *l, struct ir_inst *branch, const struct ir_inst *loop)
{
    struct ir_function *f = branch->parent->function;
    *l = (struct lift){.x = {.f = f, .op = IR_OP_RETURN}};
    l->types = ir_alloc(f->module, (1 + loop->n_results + loop->blocks[0]->n_args) * sizeof *l->types);
    for (int b = 0; b < 2; b++) pass_walk_exits(branch->blocks[b], see_kind, l);
    if (l->kinds[0] && l->kinds[1]) l->types[l->x.n_values++] = IR_BOOL;
    add_types(l, 0, loop->results, loop->n_results);
    add_types(l, 1, loop->blocks[0]->args, loop->blocks[0]->n_args);
    l->x.types = l->types;
    for (int b = 0; b < 2; b++) pass_walk_exits(branch->blocks[b], make_exit, l);
}

/* An if that is always taken, with the same results, in whose place and first block the given one goes. */
static struct ir_inst *put_in_holder(struct ir_inst *branch)
{
    struct ir_module *m = branch->parent->function->module;
    uint32_t n = branch->n_results;
    ir_type *types = ir_alloc(m, (n + 1) * sizeof *types);
    for (uint32_t i = 0; i < n; i++) types[i] = branch->results[i]->type;
    struct ir_builder at = ir_builder_before(branch);
    at.loc = branch->loc;
    struct ir_inst *holder = ir_build_if(&at, ir_const_bool(m, true), types, n);
    for (uint32_t i = 0; i < n; i++) ir_replace_uses(branch->parent, branch->results[i], holder->results[i]);
    struct ir_builder in = ir_builder_at_end(holder->blocks[0]);
    ir_inst_move_before(branch, ir_build(&in, IR_OP_YIELD, IR_VOID, branch->results, n));
    return holder;
}

void lift_loop_exits(struct ir_inst *branch, struct ir_inst *loop)
{
    struct lift l;
    find_exits(&l, branch, loop);
    struct ir_inst *holder = put_in_holder(branch);
    struct ir_block *alone = holder->blocks[0];
    enum ending ending = flatten(&l.x, alone, branch);
    struct ir_inst *end = alone->last;
    pass_move_body(alone->first, holder);
    struct ir_builder after = ir_builder_before(holder);
    after.loc = holder->loc;
    if (ending == SOMETIMES_EXITS) {
        for (uint32_t i = 0; i < holder->n_results; i++)
            ir_replace_uses(holder->parent, holder->results[i], end->operands[1 + l.x.n_values + i]);
        build_exits(&l, &after, end->operands[0], end->operands + 1);
    } else {
        pass_cut_tail(holder->next);
        after = ir_builder_at_end(holder->parent);
        after.loc = holder->loc;
        if (end->op == IR_OP_YIELD)
            build_exits(&l, &after, NULL, end->operands);
        else
            ir_build(&after, end->op, IR_VOID, NULL, 0);
    }
    ir_inst_remove(holder);
}
