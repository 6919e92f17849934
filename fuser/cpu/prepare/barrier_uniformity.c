/*
 * Barrier uniformity: ifs around barriers whose condition is not provably the same for all work-items of a work-group.
 *
 * Where a barrier (or group operation) stands inside such an if, or a work-item that leaves by it would miss a later
 * one, the specification demands that all work-items of the group take the same branch. A vote finds the group's
 * condition, and a program whose work-items diverge after all ends there. The specification demands it of nothing else,
 * so before that exits are lifted to where control flow diverges: returns to the end of the kernel, breaks and
 * continues out of the ifs around them, and continues that no barrier follows to the end of the loop's body.
 */
#include "fuser/cpu/prepare/code_passes.h"
#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/prepare/parallel_regions.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/passes/lower_returns.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/core/facts.h"

static void see_operation(struct ir_inst *inst, void *data)
{
    if (ir_is_work_group_collective(inst)) *(bool *)data = true;
}

static bool has_barrier_inside(const struct ir_inst *inst)
{
    bool found = false;
    for (int b = 0; b < 2; b++)
        if (inst->blocks[b]) ir_walk(inst->blocks[b], see_operation, &found);
    return found;
}

/* The instruction or one that follows it in its block. */
static bool has_barrier_from(const struct ir_inst *inst)
{
    for (; inst; inst = inst->next)
        if (ir_is_work_group_collective(inst) || has_barrier_inside(inst)) return true;
    return false;
}

/* The exits of an if or of a loop's iteration, returns apart. */
struct ways {
    unsigned breaks, continues;
    unsigned own; /* that stand at the end of a branch itself, no deeper inside */
};

static void count_way(struct ir_inst *inst, void *data)
{
    struct ways *w = data;
    w->breaks += inst->op == IR_OP_BREAK;
    w->continues += inst->op == IR_OP_CONTINUE;
}

static struct ways ways_of(const struct ir_inst *inst)
{
    struct ways w = {0};
    for (int b = 0; b < 2; b++) {
        if (!inst->blocks[b]) continue;
        enum ir_op end = inst->blocks[b]->last->op;
        w.own += end == IR_OP_BREAK || end == IR_OP_CONTINUE;
        pass_walk_exits(inst->blocks[b], count_way, &w);
    }
    return w;
}

/* ---- votes ---- */

/* Whether work-items that leave by it would miss a barrier of the others; inside of it there is none. */
static bool needs_vote(struct ir_inst *inst)
{
    struct ways ways = ways_of(inst);
    for (struct ir_inst *i = inst; i; i = i->parent->parent) {
        if (has_barrier_from(i->next)) return true;
        const struct ir_inst *outer = i->parent->parent;
        if (!outer || outer->op != IR_OP_LOOP) continue;
        if (!ways.breaks) return false; /* all are in the next iteration together */
        if (ways_of(outer).continues && has_barrier_inside(outer)) return true; /* with the others at a barrier */
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

/* ---- which ifs ---- */

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

static struct ir_inst *find_divergent_if(struct ir_function *kernel)
{
    struct arena *arena = arena_new();
    struct uniformity group;
    uniformity_find(&group, arena, kernel, TOGETHER_GROUP);
    struct search s = {.grouped = parallel_regions_mark(arena, kernel), .group = &group};
    ir_walk(kernel->body, see_if, &s);
    arena_free(arena);
    return s.found;
}

/* Lifts the exits in an if to where they need not be uniform, or has the work-group vote on it. */
static void make_uniform(struct ir_inst *inst)
{
    struct ways ways = ways_of(inst);
    if (has_barrier_inside(inst))
        decide_by_vote(inst);
    else if (ways.breaks + ways.continues > ways.own)
        lift_loop_exits(inst, ir_enclosing_loop(inst));
    else if (needs_vote(inst))
        decide_by_vote(inst);
    else
        lower_loop_exits(ir_enclosing_loop(inst), ways.breaks ? IR_OP_BREAK : IR_OP_CONTINUE);
}

static bool run_barrier_uniformity(struct ir_function *kernel)
{
    struct ir_inst *inst;
    bool returns_early = true, changed = false;
    if (!uses_work_group_operations(kernel)) return false;
    while ((inst = find_divergent_if(kernel))) {
        if (returns_early && pass_contains(inst, IR_OP_RETURN)) {
            pass_lower_returns.run(kernel);
            returns_early = false;
        } else {
            make_uniform(inst);
        }
        changed = true;
    }
    return changed;
}

const struct pass pass_barrier_uniformity = {
    "barrier_uniformity", "ifs around barriers whose condition may differ in a work-group", run_barrier_uniformity};
