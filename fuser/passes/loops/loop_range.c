/*
 * The values that a loop counts through: from what it begins with, by a constant, up to what it is compared with where
 * it ends. Comparisons are signed: whoever uses the range must see to it that first <= bound (< where a round ends by
 * meeting the bound), and that bound plus the step does not wrap.
 */
#include "fuser/passes/loops/loop_range.h"

#include "ir/core/facts.h"

enum { LARGEST_STEP = 1 << 16 };

struct search {
    const struct ir_inst *loop;
    const struct ir_inst *continues;
    unsigned n;
};

static void see_continue(struct ir_inst *inst, void *data)
{
    struct search *s = data;
    if (inst->op != IR_OP_CONTINUE || ir_enclosing_loop(inst) != s->loop) return;
    s->continues = inst;
    s->n++;
}

/* The constant that `next` is more than `carried`; 0: none. */
static uint64_t step_between(const struct ir_value *carried, const struct ir_value *next)
{
    uint64_t step;
    if (next->kind != IR_VALUE_RESULT || next->of.inst->op != IR_OP_ADD) return 0;
    struct ir_value *const *operands = next->of.inst->operands;
    unsigned other = operands[0] == carried;
    if (operands[1 - other] != carried || !ir_value_uint(operands[other], &step)) return 0;
    return step <= LARGEST_STEP ? step : 0;
}

/* What the condition under which the loop goes on says that a value is below, or up to. */
static const struct ir_value *bound_by(const struct ir_inst *test, bool stays_where, const struct ir_value *carried,
                                       const struct ir_value *next, uint64_t step)
{
    const struct ir_value *c = test->operands[0];
    if (c->kind != IR_VALUE_RESULT || c->of.inst->n_operands != 2) return NULL;
    const struct ir_inst *comparison = c->of.inst;
    unsigned counts = comparison->operands[0] == carried || comparison->operands[0] == next ? 0 : 1;
    const struct ir_value *v = comparison->operands[counts];
    if (v != carried && v != next) return NULL;
    bool below;
    switch (comparison->op) {
    case IR_OP_SLT:
    case IR_OP_SLE: below = counts == 0; break;
    case IR_OP_SGT:
    case IR_OP_SGE: below = counts == 1; break;
    case IR_OP_IEQ:
        if (step != 1) return NULL;
        below = false;
        break;
    case IR_OP_INE:
        if (step != 1) return NULL;
        below = true;
        break;
    default: return NULL;
    }
    return below == stays_where ? comparison->operands[1 - counts] : NULL;
}

/* Whether it ends only where the next value is equal to the bound. */
static bool is_equality(const struct ir_inst *comparison, const struct ir_value *next)
{
    bool asks_next = comparison->operands[0] == next || comparison->operands[1] == next;
    return asks_next && (comparison->op == IR_OP_IEQ || comparison->op == IR_OP_INE);
}

bool loop_range_find(const struct ir_value *carried, struct loop_range *range)
{
    if (carried->kind != IR_VALUE_BLOCK_ARG || ir_type_lanes(carried->type) > 1) return false;
    const struct ir_block *body = carried->of.block;
    struct search s = {.loop = body->parent};
    ir_walk((struct ir_block *)body, see_continue, &s);
    if (s.n != 1) return false;
    const struct ir_value *next = s.continues->operands[carried->index];
    range->first = s.loop->operands[carried->index];
    range->step = step_between(carried, next);
    if (!range->step) return false;
    for (const struct ir_inst *i = body->first; i; i = i->next) {
        if (i->op != IR_OP_IF) continue;
        for (int b = 0; b < 2; b++) {
            bool leaves = i->blocks[b]->last->op == IR_OP_BREAK;
            bool goes_on = i->blocks[b] == s.continues->parent && body->last->op == IR_OP_BREAK;
            if (!leaves && !goes_on) continue;
            range->bound = bound_by(i, leaves ? b == 1 : b == 0, carried, next, range->step);
            if (!range->bound) continue;
            range->is_met = is_equality(i->operands[0]->of.inst, next);
            return true;
        }
    }
    return false;
}
