/*
 * How a loop with a barrier goes on, told by ifs that follow each other:
 *
 *     out, add = if d < n { ... yield false, l % (2 * d) == 0 } else { yield true, true }
 *     if add { } else { continue d }
 *     if out { break }
 *     s[l] += s[l + d]; continue d
 *
 * as from jumps in compilers' code. Here who is told by constants where to go does so at once, and who goes on to the
 * next round as the others do has only that left out which it does not do:
 *
 *     if d < n { } else { break }
 *     ...
 *     if l % (2 * d) == 0 { s[l] += s[l + d] }
 *     continue d
 *
 * So what is the same for the work-group, as d and the loop's end, can be seen to be.
 */
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/core/facts.h"

/* ---- who is told where to go ---- */

/* Where branch b of an if goes behind it. */
struct way {
    const struct ir_inst *branch;
    int b;
    const struct ir_inst *exit;
};

/* What a value is for those who come from the branch; NULL: it is not made by then. */
static struct ir_value *as_told(const struct way *w, struct ir_value *v)
{
    if (v->kind != IR_VALUE_RESULT || v->of.inst->parent != w->branch->parent) return v;
    for (uint32_t i = 0; i < w->branch->n_results; i++)
        if (v == w->branch->results[i]) return w->branch->blocks[w->b]->last->operands[i];
    for (const struct ir_inst *i = w->branch->next; i; i = i->next)
        if (v->of.inst == i) return NULL;
    return v;
}

/* The block of an if that those take who come from the branch; NULL: that is not known, or it does something. */
static const struct ir_block *told_block(const struct way *w, const struct ir_inst *inst)
{
    uint64_t is;
    const struct ir_value *condition = as_told(w, inst->operands[0]);
    if (inst->n_results || !condition || !ir_value_uint(condition, &is)) return NULL;
    const struct ir_block *block = inst->blocks[!is];
    return block->first == block->last ? block : NULL;
}

static bool find_way(struct way *w)
{
    unsigned n = 0;
    if (w->branch->blocks[w->b]->last->op != IR_OP_YIELD) return false;
    for (const struct ir_inst *i = w->branch->next; i; i = i->next) {
        if (pass_is_pure(i) && !i->blocks[0]) continue;
        const struct ir_block *block = i->op == IR_OP_IF ? told_block(w, i) : NULL;
        if (!block) return false;
        n++;
        if (block->last->op == IR_OP_YIELD) continue;
        w->exit = block->last;
        break;
    }
    if (!n || !w->exit || (w->exit->op != IR_OP_BREAK && w->exit->op != IR_OP_CONTINUE)) return false;
    for (uint32_t i = 0; i < w->exit->n_operands; i++)
        if (!as_told(w, w->exit->operands[i])) return false;
    return true;
}

/* The branch leaves; what the other one makes is made behind the if. */
static void leave_at_once(const struct way *w)
{
    struct ir_inst *branch = (struct ir_inst *)w->branch;
    struct ir_inst *leaving = branch->blocks[w->b]->last, *staying = branch->blocks[!w->b]->last;
    struct ir_value **operands =
        ir_alloc(branch->parent->function->module, (w->exit->n_operands + 1) * sizeof *operands);
    for (uint32_t i = 0; i < w->exit->n_operands; i++) operands[i] = as_told(w, w->exit->operands[i]);
    leaving->op = w->exit->op;
    pass_operands_set(leaving, operands, w->exit->n_operands);
    pass_move_body(branch->blocks[!w->b]->first, branch->next);
    for (uint32_t i = 0; i < branch->n_results; i++)
        ir_replace_uses(branch->parent, branch->results[i], staying->operands[i]);
    while (branch->n_results) pass_result_remove(branch, branch->n_results - 1);
    pass_operands_set(staying, NULL, 0);
}

static bool settle(struct ir_inst *branch)
{
    for (int b = 0; b < 2; b++) {
        struct way w = {.branch = branch, .b = b};
        if (branch->blocks[!b]->last->op != IR_OP_YIELD || !find_way(&w)) continue;
        leave_at_once(&w);
        return true;
    }
    return false;
}

/* ---- who goes on as the others do ---- */

static bool is_same_exit(const struct ir_inst *a, const struct ir_inst *b)
{
    if (a->op != b->op || a->n_operands != b->n_operands) return false;
    for (uint32_t i = 0; i < a->n_operands; i++)
        if (!ir_value_same(a->operands[i], b->operands[i])) return false;
    return true;
}

static void see_collective(struct ir_inst *inst, void *data)
{
    if (ir_is_work_group_collective(inst)) *(bool *)data = true;
}

static bool holds_collective(struct ir_inst *first)
{
    bool found = false;
    for (struct ir_inst *i = first; i && !found; i = i->next) {
        see_collective(i, &found);
        for (int b = 0; b < 2; b++)
            if (i->blocks[b]) ir_walk(i->blocks[b], see_collective, &found);
    }
    return found;
}

static bool join_exits(struct ir_inst *branch)
{
    struct ir_inst *end = branch->parent->last;
    if (branch->n_results || (end->op != IR_OP_CONTINUE && end->op != IR_OP_BREAK)) return false;
    for (int b = 0; b < 2; b++) {
        struct ir_inst *exit = branch->blocks[b]->first, *other = branch->blocks[!b]->last;
        if (other->op != IR_OP_YIELD || !is_same_exit(exit, end) || holds_collective(branch->next)) continue;
        pass_move_body(branch->next, other);
        exit->op = IR_OP_YIELD;
        pass_operands_set(exit, NULL, 0);
        return true;
    }
    return false;
}

/* ---- the loops ---- */

static bool visit_block(struct ir_block *block, bool in_loop)
{
    bool changed = false;
    for (struct ir_inst *inst = block->first; inst; inst = inst->next) {
        bool loop = inst->op == IR_OP_LOOP && holds_collective(inst->blocks[0]->first);
        bool here = inst->op == IR_OP_LOOP ? loop : in_loop;
        while (in_loop && inst->op == IR_OP_IF && settle(inst)) changed = true;
        if (in_loop && inst->op == IR_OP_IF) changed |= join_exits(inst);
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) changed |= visit_block(inst->blocks[b], here);
    }
    return changed;
}

static bool run_one_way(struct ir_function *f)
{
    return visit_block(f->body, false);
}

const struct pass pass_one_way = {"one_way", "how loops with a barrier go on, told by ifs that follow each other",
                                  run_one_way};
