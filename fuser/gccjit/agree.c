/*
 * Ifs that a work-group takes as one though their condition is not provably the same for all of its work-items.
 *
 * Where work-items meet in such an if, or one that leaves by it would be missed at a later meeting, the
 * specification has them agree: a vote finds the group's condition, and a program in which they do not agree
 * after all ends there. Where both ways only lead to the next round of a loop they need not agree: the if is
 * rewritten so that they part inside it and go on together.
 */
#include "fuser/gccjit/emit.h"
#include "fuser/passes/util.h"

/* ---- both ways to the next round ---- */

static const struct ir_inst *loop_around(const struct ir_inst *inst)
{
    while (inst && inst->op != IR_OP_LOOP) inst = inst->parent->parent;
    return inst;
}

struct inside {
    bool meets, other_exit;
    unsigned ways_on;
};

static void look(struct ir_inst *inst, void *data)
{
    struct inside *s = data;
    if (is_collective(inst)) s->meets = true;
    if (inst->op == IR_OP_CONTINUE) s->ways_on++;
    if (inst->op == IR_OP_BREAK || inst->op == IR_OP_RETURN) s->other_exit = true;
}

/* The instructions from `inst` to the end of its block. */
static struct inside look_from(const struct ir_inst *inst)
{
    struct inside s = {0};
    for (; inst; inst = inst->next) {
        look((struct ir_inst *)inst, &s);
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) ir_walk(inst->blocks[b], look, &s);
    }
    return s;
}

/* Each arm's end itself goes on to the next round, or falls out of the if; nothing deeper inside leaves. */
static bool only_goes_on(const struct ir_inst *inst)
{
    unsigned ends = 0;
    struct inside all = {0};
    for (int b = 0; b < 2; b++) {
        ends += inst->blocks[b]->last->op == IR_OP_CONTINUE;
        ir_walk(inst->blocks[b], look, &all);
    }
    return ends > 0 && ends == all.ways_on && !all.other_exit && !all.meets;
}

/* Both ways lead to the end of the block, where the next round begins. */
static bool can_go_on_together(const struct ir_inst *inst)
{
    if (!loop_around(inst) || !only_goes_on(inst)) return false;
    if (inst->blocks[0]->last->op == IR_OP_CONTINUE && inst->blocks[1]->last->op == IR_OP_CONTINUE) return true;
    struct inside rest = look_from(inst->next);
    return inst->parent->last->op == IR_OP_CONTINUE && rest.ways_on == 1 && !rest.other_exit;
}

/* What follows the if goes into the arm that falls out of it. */
static void take_in_rest(struct ir_inst *inst, struct ir_block *arm)
{
    struct ir_inst *yield = arm->last;
    for (uint32_t i = 0; i < inst->n_results; i++)
        for (struct ir_inst *rest = inst->next; rest; rest = rest->next) {
            for (uint32_t o = 0; o < rest->n_operands; o++)
                if (rest->operands[o] == inst->results[i]) rest->operands[o] = yield->operands[i];
            for (int b = 0; b < 2; b++)
                if (rest->blocks[b]) ir_replace_uses(rest->blocks[b], inst->results[i], yield->operands[i]);
        }
    ir_inst_remove(yield);
    pass_move_tail(inst->next, arm);
}

static void go_on_together(struct ir_inst *inst)
{
    const struct ir_block *body = loop_around(inst)->blocks[0];
    for (int b = 0; b < 2; b++)
        if (inst->blocks[b]->last->op == IR_OP_YIELD) take_in_rest(inst, inst->blocks[b]);
    pass_cut_tail(inst->next);
    while (inst->n_results) pass_result_remove(inst, inst->n_results - 1);
    struct ir_builder at = ir_builder_at_end(inst->parent);
    struct ir_inst *next = ir_build(&at, IR_OP_CONTINUE, IR_VOID, NULL, 0);
    for (uint32_t i = 0; i < body->n_args; i++) pass_operand_add(next, pass_result_add(inst, body->args[i]->type));
    for (int b = 0; b < 2; b++)
        if (inst->blocks[b]->last->op == IR_OP_CONTINUE) inst->blocks[b]->last->op = IR_OP_YIELD;
}

/* ---- votes ---- */

/* Whether those that leave by it would miss a meeting of the others. */
static bool must_agree(const struct ir_inst *inst)
{
    struct inside here = {0};
    for (int b = 0; b < 2; b++) ir_walk(inst->blocks[b], look, &here);
    if (here.meets) return true;
    for (const struct ir_inst *i = inst; i; i = i->parent->parent) {
        if (look_from(i->next).meets) return true;
        const struct ir_inst *outer = i->parent->parent;
        if (!outer || outer->op != IR_OP_LOOP) continue;
        if (!here.other_exit) return false; /* all are in the next round together */
        struct inside round = {0};
        ir_walk(outer->blocks[0], look, &round);
        if (round.meets) return true;
    }
    return false;
}

static struct ir_value *vote(struct ir_builder *b, enum ir_op op, struct ir_value *condition)
{
    struct ir_inst *inst = ir_build(b, op, IR_VOID, &condition, 1);
    inst->attrs.scope = IR_SCOPE_WORK_GROUP;
    return inst->results[0];
}

static void decide_by_vote(struct ir_inst *inst)
{
    struct ir_builder b = ir_builder_before(inst);
    struct ir_value *any = vote(&b, IR_OP_GROUP_ANY, inst->operands[0]);
    struct ir_value *all = vote(&b, IR_OP_GROUP_ALL, inst->operands[0]);
    struct ir_inst *wrong = ir_build_if(&b, ir_build2(&b, IR_OP_XOR, IR_BOOL, any, all), NULL, 0);
    struct ir_builder yes = ir_builder_at_end(wrong->blocks[0]), no = ir_builder_at_end(wrong->blocks[1]);
    ir_build(&yes, IR_OP_UNREACHABLE, IR_VOID, NULL, 0);
    ir_build(&no, IR_OP_YIELD, IR_VOID, NULL, 0);
    inst->operands[0] = any;
}

/* ---- which ---- */

struct search {
    const bool *grouped;
    const struct uniformity *group;
    struct ir_inst *found;
};

static void see_if(struct ir_inst *inst, void *data)
{
    struct search *s = data;
    if (s->found || inst->op != IR_OP_IF || !s->grouped[inst->scratch]) return;
    const struct ir_value *v = inst->operands[0];
    if (v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF) return;
    if (s->group->values[v->scratch].kind != SHAPE_UNIFORM) s->found = inst;
}

static struct ir_inst *find_disputed(struct ir_function *kernel)
{
    struct arena *arena = arena_new();
    struct uniformity group;
    uniformity_find(&group, arena, kernel, TOGETHER_GROUP);
    struct search s = {.grouped = regions_mark(arena, kernel), .group = &group};
    ir_walk(kernel->body, see_if, &s);
    arena_free(arena);
    return s.found;
}

void agree_make(struct ir_function *kernel)
{
    struct ir_inst *inst;
    if (!regions_needed(kernel)) return;
    while ((inst = find_disputed(kernel))) {
        if (must_agree(inst))
            decide_by_vote(inst);
        else if (can_go_on_together(inst))
            go_on_together(inst);
        else
            return; /* check.c names it */
    }
}
