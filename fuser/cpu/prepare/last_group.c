/*
 * Sides of a kernel whose last work-group does something else (ir/core/assumptions.h, last_group):
 *
 *     if (group != groups - 1) { many }      others:  many
 *     if (group == groups - 1) { one }       last:    one
 *
 * So each is compiled as if there were no other: groups become lanes, rows run on, and nobody waits who need not.
 */
#include "fuser/cpu/prepare/last_group.h"

#include "fuser/passes/manager/pipelines.h"
#include "ir/core/edit.h"
#include "ir/core/facts.h"

static bool is_of_x(const struct ir_value *v, enum ir_op op)
{
    return v->kind == IR_VALUE_RESULT && v->of.inst->op == op && v->of.inst->attrs.dim == 0;
}

static bool is_number(const struct ir_value *v, uint64_t n)
{
    return v->kind == IR_VALUE_CONST && v->type == IR_I64 && v->of.lanes[0] == n;
}

/* The number of work-groups, less one. */
static bool is_last(const struct ir_value *v)
{
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    if (!inst || (inst->op != IR_OP_ADD && inst->op != IR_OP_SUB)) return false;
    uint64_t one = inst->op == IR_OP_SUB ? 1 : UINT64_MAX;
    return is_of_x(inst->operands[0], IR_OP_NUM_GROUPS) && is_number(inst->operands[1], one);
}

struct taking {
    struct ir_function *kernel;
    enum group_side side;
};

static void take(struct ir_inst *inst, void *data)
{
    const struct taking *t = data;
    if (inst->op != IR_OP_IEQ && inst->op != IR_OP_INE) return;
    const struct ir_value *a = inst->operands[0], *b = inst->operands[1];
    if (!(is_of_x(a, IR_OP_GROUP_ID) && is_last(b)) && !(is_of_x(b, IR_OP_GROUP_ID) && is_last(a))) return;
    bool is = (inst->op == IR_OP_IEQ) == (t->side == GROUP_LAST);
    ir_replace_uses(t->kernel->body, inst->results[0], ir_const_bool(t->kernel->module, is));
}

static struct ir_function *copy_of(const struct ir_function *kernel)
{
    return ir_function_copy(ir_module_new("kernel"), kernel, kernel->name);
}

/* A copy has no more of the module's variables than it uses. */
struct ir_function *last_group_take(const struct ir_function *kernel, enum group_side side)
{
    struct ir_function *both = copy_of(kernel);
    struct taking t = {both, side};
    if (side == GROUP_ALL) return both;
    if (side == GROUP_LAST) both->assumes &= ~(uint32_t)(IR_ASSUME_PAIRED_GROUPS | IR_ASSUME_LANE_GROUPS);
    ir_walk(both->body, take, &t);
    pipeline_run(&pipeline_cleanup, both);
    struct ir_function *own = copy_of(both);
    ir_module_free(both->module);
    return own;
}
