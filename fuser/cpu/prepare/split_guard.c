/*
 * Fused kernels have several loops and more behind one guard, where each had its own. For a loop that is to become the
 * group's the if around it is taken apart:
 *
 *     if (c) { before; loop; behind }        if (c) { before }  if (c) { loop }  if (c) { behind }
 */
#include "fuser/cpu/prepare/split_guard.h"

#include "fuser/passes/util.h"

static unsigned side_of(const struct ir_inst *guard, const struct ir_inst *loop)
{
    return loop->parent == guard->blocks[1];
}

bool guard_can_split(const struct ir_inst *guard, const struct ir_inst *loop)
{
    const struct ir_block *other = guard->blocks[1 - side_of(guard, loop)];
    return guard->op == IR_OP_IF && !pass_leaves(guard) && loop->parent->last->op == IR_OP_YIELD &&
           other->first == other->last && other->last->op == IR_OP_YIELD;
}

static void end_with_nothing(struct ir_block *block)
{
    struct ir_builder b = ir_builder_at_end(block);
    ir_build(&b, IR_OP_YIELD, IR_VOID, NULL, 0);
}

/* What needs nothing that is made under the guard can be made before it. */
static void move_pure_out(struct ir_inst *guard, const struct ir_inst *loop)
{
    for (struct ir_inst *i = loop->parent->first, *next; i != loop; i = next) {
        bool free = pass_is_pure(i) && !(ir_op_info(i->op)->flags & IR_FLAG_PARTIAL);
        next = i->next;
        for (uint32_t k = 0; k < i->n_operands; k++) free = free && !pass_is_inside(i->operands[k], guard);
        if (free) ir_inst_move_before(i, guard);
    }
}

struct user {
    const struct ir_value *value;
    bool found;
};

static void see_use(struct ir_inst *inst, void *data)
{
    struct user *u = data;
    for (uint32_t i = 0; i < inst->n_operands; i++) u->found |= inst->operands[i] == u->value;
}

static bool uses(struct ir_inst *branch, unsigned side, const struct ir_value *v)
{
    struct user u = {.value = v};
    ir_walk(branch->blocks[side], see_use, &u);
    return u.found;
}

/* A value made under the guard is a result of it for the other two. */
static void give(struct ir_inst *guard, unsigned side, struct ir_value *v, struct ir_inst *const others[2])
{
    if (!uses(others[0], side, v) && !uses(others[1], side, v)) return;
    struct ir_value *result = pass_result_add(guard, v->type);
    pass_operand_add(guard->blocks[side]->last, v);
    pass_operand_add(guard->blocks[1 - side]->last, ir_undef(guard->parent->function->module, v->type));
    for (unsigned i = 0; i < 2; i++) ir_replace_uses(others[i]->blocks[side], v, result);
}

struct ir_inst *guard_split(struct ir_inst *guard, struct ir_inst *loop)
{
    unsigned side = side_of(guard, loop);
    move_pure_out(guard, loop);
    struct ir_builder b = ir_builder_before(guard->next);
    struct ir_inst *const around = ir_build_if(&b, guard->operands[0], NULL, 0), *const behind = ir_build_if(
                                                                                     &b, guard->operands[0], NULL, 0);
    pass_move_tail(loop->next, behind->blocks[side]);
    pass_move_tail(guard->blocks[1 - side]->first, behind->blocks[1 - side]);
    for (uint32_t i = 0; i < guard->n_results; i++) pass_result_adopt(behind, guard->results[i]);
    guard->n_results = 0;
    for (unsigned i = 0; i < 2; i++) {
        end_with_nothing(guard->blocks[i]);
        end_with_nothing(around->blocks[i]);
    }
    ir_inst_move_before(loop, around->blocks[side]->last);
    struct ir_inst *const others[2] = {around, behind};
    for (struct ir_inst *i = guard->blocks[side]->first; i != guard->blocks[side]->last; i = i->next)
        for (uint32_t k = 0; k < i->n_results; k++) give(guard, side, i->results[k], others);
    return around;
}
