/*
 * Loops of few rounds become what they do, round by round: so what is indexed by their counter is at constant places,
 * and can be a value; work-items that go up and down a tree do so over distances that are known; and those that go over
 * a row together have their parts of it in registers.
 *
 * Such a loop has one way out and one way on, both decided by one if of its body, whose condition follows from
 * constants; one of them may be behind the if. How many rounds there are is found by computing it, for the first and
 * for the last work-item of a row where it depends on the local id: those between have as many if both have.
 */
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/loops/copy_insts.h"
#include "fuser/passes/loops/row_loop.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/base/arena.h"
#include "ir/eval/eval.h"

enum { MAX_SIZE = 64, MAX_DEPTH = 16, MAX_OPERANDS = 3 };

struct unroll;

/* What is copied, in a function that may have thousands of such loops: each gets numbers of its own, and leaves `to`
   empty. */
struct numbers {
    struct ir_value **to;
    uint32_t next, size;
};

/* Which loops, and how much they may become. */
struct wanted {
    bool (*is)(struct unroll *u); /* in the first round, whose parameters are known where they follow from constants */
    unsigned rounds, copies;
    uint32_t row; /* work-items of a group in x, which all have as many rounds; 0: rounds follow from constants alone */
};

struct unroll {
    const struct wanted *wanted;
    struct ir_inst *loop;
    struct ir_inst *test;  /* the if that the loop is left by */
    int leaves;            /* its block that does */
    struct ir_inst *next;  /* the continue */
    unsigned rounds;       /* that go on */
    uint64_t item;         /* the local id x for which they are counted, if wanted->row */
    struct pass_copy copy; /* of the present round */
};

/* ---- which loops ---- */

struct exits {
    struct ir_inst *out, *on;
    unsigned n_out, n_on, n_returns;
};

static void see_exit(struct ir_inst *inst, void *data)
{
    struct exits *e = data;
    e->n_out += inst->op == IR_OP_BREAK;
    e->n_on += inst->op == IR_OP_CONTINUE;
    e->n_returns += inst->op == IR_OP_RETURN;
    if (inst->op == IR_OP_BREAK) e->out = inst;
    if (inst->op == IR_OP_CONTINUE) e->on = inst;
}

static bool has_shape(struct unroll *u)
{
    struct ir_block *body = u->loop->blocks[0];
    struct exits e = {0};
    pass_walk_exits(body, see_exit, &e);
    if (e.n_out != 1 || e.n_on != 1 || e.n_returns) return false;
    u->next = e.on;
    const struct ir_inst *inside = e.out->parent == body ? e.on : e.out; /* of the if; the other may be behind it */
    u->test = inside->parent->parent;
    if (inside->parent == body || u->test->op != IR_OP_IF || u->test->parent != body) return false;
    u->leaves = (u->test->blocks[1] == inside->parent) == (inside == e.out);
    const struct ir_inst *other = inside == e.out ? e.on : e.out;
    const struct ir_block *side = u->test->blocks[u->test->blocks[0] == inside->parent];
    return other->parent == side || (other->parent == body && side->last->op == IR_OP_YIELD);
}

struct size {
    unsigned n;
    bool refused;
};

static void see_size(struct ir_inst *inst, void *data)
{
    struct size *s = data;
    s->n++;
    s->refused |= inst->op == IR_OP_CALL || inst->op == IR_OP_VAR;
}

/* ---- how many rounds ---- */

static bool is_item(const struct unroll *u, const struct ir_inst *inst)
{
    return u->wanted->row && inst->op == IR_OP_LOCAL_ID && inst->attrs.dim == 0;
}

/* The value in this round as a word, where it follows from constants. */
static bool find_word(const struct unroll *u, const struct ir_value *v, unsigned depth, uint64_t *word)
{
    uint64_t words[MAX_OPERANDS], result[IR_MAX_LANES];
    const uint64_t *operands[MAX_OPERANDS];
    if (v->scratch && u->copy.to[v->scratch]) v = u->copy.to[v->scratch];
    if (ir_type_is_vector(v->type) || ir_type_is_ptr(v->type)) return false;
    if (v->kind == IR_VALUE_CONST) {
        *word = v->of.lanes[0];
        return true;
    }
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT && depth ? v->of.inst : NULL;
    if (inst && is_item(u, inst)) {
        *word = u->item;
        return true;
    }
    if (!inst || !pass_is_pure(inst) || !inst->n_operands || inst->n_operands > MAX_OPERANDS) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (!find_word(u, inst->operands[i], depth - 1, &words[i])) return false;
        operands[i] = &words[i];
    }
    if (!ir_eval(inst, operands, result)) return false;
    *word = result[0];
    return true;
}

/* The loop's parameters that are known integers in the round that begins with these values. */
static void begin_known(struct unroll *u, struct ir_value *const *values)
{
    const struct ir_block *body = u->loop->blocks[0];
    struct ir_value **known = ir_alloc(body->function->module, (body->n_args + 1) * sizeof(*known));
    for (uint32_t i = 0; i < body->n_args; i++) {
        uint64_t word;
        if (ir_type_is_int(body->args[i]->type) && find_word(u, values[i], MAX_DEPTH, &word))
            known[i] = ir_const_int(body->function->module, body->args[i]->type, word);
    }
    for (uint32_t i = 0; i < body->n_args; i++) u->copy.to[body->args[i]->scratch] = known[i];
}

static bool find_rounds(struct unroll *u)
{
    uint64_t word;
    for (u->rounds = 0; u->rounds <= u->wanted->rounds; u->rounds++) {
        if (!find_word(u, u->test->operands[0], MAX_DEPTH, &word)) return false;
        if (u->leaves == !(word & 1)) return true;
        begin_known(u, u->next->operands);
    }
    return false;
}

/* All work-items have the same: between the first one of a row and the last one they only become fewer (has_rows()). */
static bool find_rounds_of_all(struct unroll *u)
{
    if (!find_rounds(u)) return false;
    if (!u->wanted->row) return true;
    unsigned first = u->rounds;
    u->item = u->wanted->row - 1;
    begin_known(u, u->loop->operands);
    return find_rounds(u) && u->rounds == first;
}

/* ---- the rounds ---- */

/* One round, up to where it goes on or leaves: the values for the next one, or the loop's results. */
static struct ir_value **copy_round(struct unroll *u, struct ir_builder *b, struct ir_value *const *args, bool last)
{
    const struct ir_block *body = u->loop->blocks[0], *side = u->test->blocks[last ? u->leaves : !u->leaves];
    for (uint32_t i = 0; i < body->n_args; i++) u->copy.to[body->args[i]->scratch] = args[i];
    pass_copy_insts(&u->copy, b, body->first, u->test);
    pass_copy_insts(&u->copy, b, side->first, side->last);
    if (side->last->op != IR_OP_YIELD) return pass_copy_operands(&u->copy, side->last);
    struct ir_value **results = pass_copy_operands(&u->copy, side->last);
    for (uint32_t i = 0; i < u->test->n_results; i++) u->copy.to[u->test->results[i]->scratch] = results[i];
    pass_copy_insts(&u->copy, b, u->test->next, body->last);
    return pass_copy_operands(&u->copy, body->last);
}

static void copy_rounds(struct unroll *u)
{
    struct ir_builder b = ir_builder_before(u->loop);
    struct ir_value **values = pass_copy_operands(&u->copy, u->loop);
    for (unsigned i = 0; i <= u->rounds; i++) values = copy_round(u, &b, values, i == u->rounds);
    for (uint32_t i = 0; i < u->loop->n_results; i++) ir_replace_uses(u->loop->parent, u->loop->results[i], values[i]);
    ir_inst_remove(u->loop);
}

/* ---- what is wanted ---- */

/* Something of a private variable that is more than a number is looked up by index. */
static void see_array(struct ir_inst *inst, void *data)
{
    const struct ir_value *root = inst->op == IR_OP_ELEM ? inst->operands[0] : NULL;
    if (!root || inst->operands[1]->kind == IR_VALUE_CONST) return;
    while (root->kind == IR_VALUE_RESULT && (root->of.inst->op == IR_OP_ELEM || root->of.inst->op == IR_OP_FIELD))
        root = root->of.inst->operands[0];
    if (root->kind == IR_VALUE_RESULT && root->of.inst->op == IR_OP_VAR) *(bool *)data = true;
}

static bool has_array(struct unroll *u)
{
    bool found = false;
    ir_walk(u->loop->blocks[0], see_array, &found);
    return found;
}

static void see_access(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE) *(bool *)data = true;
}

static bool has_access(struct unroll *u)
{
    bool found = false;
    ir_walk(u->loop->blocks[0], see_access, &found);
    return found;
}

struct search {
    const struct unroll *u;
    bool found;
};

/* What an id is multiplied or compared with, in each round something else. */
static void see_step(struct ir_inst *inst, void *data)
{
    struct search *s = data;
    uint64_t word;
    bool compares = ir_op_class(inst->op) == IR_CLASS_COMPARISON;
    if (inst->op != IR_OP_MUL && inst->op != IR_OP_SHL && !compares) return;
    for (int i = 0; i < (inst->op == IR_OP_SHL ? 1 : 2); i++) {
        const struct ir_value *id = inst->operands[i], *step = inst->operands[1 - i];
        bool known = step->kind != IR_VALUE_CONST && find_word(s->u, step, MAX_DEPTH, &word);
        if (known && pass_is_of_id(id)) s->found = true;
    }
}

static bool has_barrier(const struct ir_inst *loop)
{
    for (const struct ir_inst *inst = loop->blocks[0]->first; inst; inst = inst->next)
        if (inst->op == IR_OP_BARRIER) return true;
    return false;
}

/* Steps of a work-group up or down a tree. */
static bool has_steps(struct unroll *u)
{
    struct search s = {u, false};
    if (has_barrier(u->loop)) ir_walk(u->loop->blocks[0], see_step, &s);
    return s.found;
}

/* A work-group goes over a row, which ends at a number. */
static bool has_rows(struct unroll *u)
{
    struct row_loop row;
    uint64_t length;
    return row_loop_read(u->test, u->next, &row) && ir_value_uint(row.end, &length) && length <= ROW_LONGEST;
}

/* ---- the passes ---- */

/* For the values in the loop; the first of their numbers. */
static uint32_t number_loop(struct numbers *n, const struct ir_inst *loop)
{
    uint32_t first = n->next;
    n->next = pass_number_inside(loop, first);
    if (n->next <= n->size) return first;
    uint32_t size = 2 * n->next;
    n->to = arena_realloc(n->to, size * sizeof *n->to);
    memset(n->to + n->size, 0, (size - n->size) * sizeof *n->to);
    n->size = size;
    return first;
}

static bool unroll_loop(struct ir_inst *loop, const struct wanted *wanted, struct numbers *numbers)
{
    struct unroll u = {.wanted = wanted, .loop = loop};
    struct size size = {0};
    ir_walk(loop->blocks[0], see_size, &size);
    if (size.refused || size.n > MAX_SIZE || !has_shape(&u)) return false;
    uint32_t first = number_loop(numbers, loop);
    size_t bytes = (numbers->next - first) * sizeof *numbers->to;
    u.copy.to = numbers->to;
    begin_known(&u, loop->operands);
    bool found = wanted->is(&u) && find_rounds_of_all(&u) && u.rounds * size.n <= wanted->copies;
    memset(u.copy.to + first, 0, bytes);
    if (found) copy_rounds(&u);
    memset(u.copy.to + first, 0, bytes);
    return found;
}

static bool unroll_block(struct ir_block *block, const struct wanted *wanted, struct numbers *numbers)
{
    bool changed = false;
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        next = inst->next;
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) changed |= unroll_block(inst->blocks[b], wanted, numbers);
        if (inst->op == IR_OP_LOOP) changed |= unroll_loop(inst, wanted, numbers);
    }
    return changed;
}

static bool unroll(struct ir_function *f, const struct wanted *wanted)
{
    struct numbers numbers = {.next = pass_number(f)};
    bool changed = unroll_block(f->body, wanted, &numbers);
    free(numbers.to);
    return changed;
}

static bool run_unroll(struct ir_function *f)
{
    return unroll(f, &(struct wanted){has_array, 8, 256});
}

static bool run_unroll_accesses(struct ir_function *f)
{
    return unroll(f, &(struct wanted){has_access, 8, 256});
}

/* Where the size of groups is known, so that who takes a step is, too. */
static bool run_unroll_steps(struct ir_function *f)
{
    if (!f->work_group_size[0] || !(f->assumes & IR_ASSUME_WHOLE_GROUPS)) return false;
    return unroll(f, &(struct wanted){has_steps, 12, 256});
}

/* Without barriers it is better to go along them (cpu/prepare/group_rounds.c). */
static bool run_unroll_rows(struct ir_function *f)
{
    bool knows = f->work_group_size[0] && f->assumes & IR_ASSUME_WHOLE_GROUPS;
    if (!knows || !row_loops_meet(f)) return false;
    return unroll(f, &(struct wanted){has_rows, ROW_MOST_ROUNDS, 256, f->work_group_size[0]});
}

const struct pass pass_unroll = {"unroll", "short loops over private arrays", run_unroll};

const struct pass pass_unroll_accesses = {"unroll_accesses", "short loops that access memory", run_unroll_accesses};

const struct pass pass_unroll_rows = {"unroll_rows", "short rows that a work-group goes over", run_unroll_rows};

const struct pass pass_unroll_steps = {"unroll_steps", "steps of a work-group up and down trees", run_unroll_steps};
