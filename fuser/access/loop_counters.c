/* Loop counters: a parameter of the loop that starts at a known sum, grows by a constant and is compared with a known
   number before the loop goes round again. It lies within bounds; or, where that loses nothing of these, it is where it
   starts and whole steps, as of work-items that go over a row together: what each of them comes to is its own. */
#include "fuser/access/loop_counters.h"

#include "fuser/access/affine_value.h"
#include "ir/base/arena.h"

/* x < limit (or x != limit) holds whenever the loop continues past `guard`. */
struct test {
    const struct ir_inst *guard;
    const struct ir_value *x;
    int64_t most; /* of x */
    bool exact;   /* by !=: x is compared for equality with most + 1 */
    bool at_end;  /* of the body: what is behind it leaves */
};

struct step {
    const struct ir_block *body;
    uint32_t index;
    int64_t size; /* 0: none seen yet */
    bool regular;
    bool even; /* all are the same */
};

/* The constant c where v is counter + c; false else. */
static bool offset_from(const struct access_walk *w, const struct ir_value *v, const struct ir_value *counter,
                        int64_t *offset)
{
    *offset = 0;
    if (v == counter) return true;
    if (v->kind != IR_VALUE_RESULT || v->of.inst->op != IR_OP_ADD || v->of.inst->operands[0] != counter) return false;
    struct affine c = affine_value(w, v->of.inst->operands[1]);
    *offset = c.constant;
    return affine_is_constant(&c);
}

/* Looks at each continue of the loop; inner loops have their own. */
static void see_steps(const struct access_walk *w, const struct ir_block *block, struct step *step)
{
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (inst->op == IR_OP_CONTINUE) {
            int64_t size;
            if (!offset_from(w, inst->operands[step->index], step->body->args[step->index], &size) || size <= 0)
                step->regular = false;
            else {
                step->even &= !step->size || size == step->size;
                if (size > step->size) step->size = size;
            }
        }
        if (inst->op == IR_OP_IF) {
            see_steps(w, inst->blocks[0], step);
            see_steps(w, inst->blocks[1], step);
        }
    }
}

static bool has_continue(const struct ir_block *block)
{
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (inst->op == IR_OP_CONTINUE) return true;
        if (inst->op == IR_OP_IF && (has_continue(inst->blocks[0]) || has_continue(inst->blocks[1]))) return true;
    }
    return false;
}

static bool leaves_loop(const struct ir_block *block)
{
    enum ir_op last = block->last ? block->last->op : IR_OP_UNREACHABLE;
    return (last == IR_OP_BREAK || last == IR_OP_RETURN) && !has_continue(block);
}

/* What comes behind the instruction neither goes on nor stays. */
static bool leaves_loop_after(const struct ir_inst *inst)
{
    const struct ir_inst *last = inst;
    while (last->next) {
        last = last->next;
        if (last->op == IR_OP_CONTINUE) return false;
        if (last->op == IR_OP_IF && (has_continue(last->blocks[0]) || has_continue(last->blocks[1]))) return false;
    }
    return last->op == IR_OP_BREAK || last->op == IR_OP_RETURN;
}

/* The largest x with which the comparison lets the loop go on. */
static bool read_test(const struct access_walk *w, const struct ir_inst *guard, bool on_true, struct test *test)
{
    const struct ir_value *condition = guard->operands[0];
    if (condition->kind != IR_VALUE_RESULT) return false;
    const struct ir_inst *compare = condition->of.inst;
    if (compare->n_operands != 2) return false;
    struct affine limit = affine_value(w, compare->operands[1]);
    int64_t low, high;
    if (!affine_range(&limit, &w->bounds, &low, &high) || low < 0) return false;
    if (high > (int64_t)(UINT64_MAX >> (65 - ir_type_bits(compare->type)))) return false;
    *test = (struct test){.guard = guard, .x = compare->operands[0], .most = high - 1};
    switch (compare->op) {
    case IR_OP_SLT:
    case IR_OP_ULT: return on_true;
    case IR_OP_SGE:
    case IR_OP_UGE: return !on_true;
    case IR_OP_SLE:
    case IR_OP_ULE: test->most = high; return on_true;
    case IR_OP_SGT:
    case IR_OP_UGT: test->most = high; return !on_true;
    case IR_OP_INE: test->exact = true; return on_true && low == high;
    case IR_OP_IEQ: test->exact = true; return !on_true && low == high;
    default: return false;
    }
}

/* The branch at the top of the body that each continue passes. */
static bool find_test(const struct access_walk *w, const struct ir_block *body, struct test *test)
{
    for (const struct ir_inst *inst = body->first; inst; inst = inst->next) {
        if (inst->op != IR_OP_IF) continue;
        for (unsigned side = 0; side < 2; side++)
            if (leaves_loop(inst->blocks[side])) return read_test(w, inst, side == 1, test);
        bool goes_on[2] = {has_continue(inst->blocks[0]), has_continue(inst->blocks[1])};
        if (goes_on[0] != goes_on[1] && leaves_loop_after(inst)) {
            bool read = read_test(w, inst, goes_on[0], test);
            test->at_end = true;
            return read;
        }
        if (goes_on[0] || goes_on[1]) return false;
    }
    return false;
}

/* The counter where it is at most `most`, having started between low and high. */
static struct affine counter_sum(const struct affine *start, int64_t low, int64_t high, int64_t step, int64_t most)
{
    int64_t rounds = (most - low) / step;
    if (affine_is_exact(start) && low < high && step > 1 && high <= most - rounds * step) {
        struct affine steps = {.known = true, .high = rounds * step, .step = step};
        return affine_add(start, &steps);
    }
    return affine_between(low, most);
}

static void bound_counter(struct access_walk *w, const struct ir_inst *loop, uint32_t index, const struct test *test)
{
    const struct ir_value *counter = loop->blocks[0]->args[index];
    struct step step = {.body = loop->blocks[0], .index = index, .regular = true, .even = true};
    see_steps(w, loop->blocks[0], &step);
    struct affine start = affine_value(w, loop->operands[index]);
    int64_t low, high, ahead;
    if (!step.regular || !step.size || !offset_from(w, test->x, counter, &ahead)) return;
    if (!affine_range(&start, &w->bounds, &low, &high) || low < 0 || ahead < 0) return;
    if (ahead != 0 && ahead != step.size) return; /* compares the counter, or what it becomes */
    /* Compared for equality, each number up to the limit must be met. */
    if (test->exact && (step.size != 1 || high + ahead > test->most + 1)) return;
    int64_t most, largest = (int64_t)(UINT64_MAX >> (65 - ir_type_bits(counter->type)));
    if (__builtin_add_overflow(test->most, step.size - ahead, &most)) return;
    if (most < high) most = high;
    if (most > largest - step.size) return;
    int64_t size = step.even ? step.size : 1;
    w->sums[access_value_number(counter)] = counter_sum(&start, low, high, size, most);
    if (ahead || test->at_end || test->most < low) return;
    struct loop_guard *guard = arena_alloc(w->result->arena, sizeof *guard);
    *guard = (struct loop_guard){.guard = test->guard,
                                 .counter = counter,
                                 .past = counter_sum(&start, low, high, size, test->most),
                                 .next = w->guards};
    w->guards = guard;
}

void loop_counters_bound(struct access_walk *w, const struct ir_inst *loop)
{
    const struct ir_block *body = loop->blocks[0];
    struct test test;
    if (!find_test(w, body, &test)) return;
    for (uint32_t i = 0; i < body->n_args; i++)
        if (ir_type_is_int(body->args[i]->type) && !ir_type_is_vector(body->args[i]->type) &&
            !affine_value(w, body->args[i]).known)
            bound_counter(w, loop, i, &test);
}
