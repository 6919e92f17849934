/*
 * Tests whether the memory of two parameters overlaps, which compilers put before a loop that they made twice: for rows
 * that do and for rows that do not, as `x < b + n && b < x + n`. Distinct pointer parameters of a kernel never do, so
 * the test is false and one of the loops is gone. How two memories lie to each other beyond their ends means nothing.
 */
#include "fuser/passes/alias.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

static const struct ir_inst *maker(const struct ir_value *v)
{
    return v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
}

/* The parameter in whose memory an address as an integer lies; NULL: not known. */
static const struct ir_value *memory_of(const struct ir_value *v)
{
    const struct ir_inst *inst = maker(v);
    if (!inst || inst->op != IR_OP_PTRTOINT || v->type != IR_I64) return NULL;
    const struct ir_value *root = alias_root(inst->operands[0]);
    return root && root->kind == IR_VALUE_PARAM ? root : NULL;
}

/* Of a test whether one address is below another, the memory of both. */
static bool is_below(const struct ir_value *v, const struct ir_value *memory[2])
{
    const struct ir_inst *inst = maker(v);
    if (!inst || (inst->op != IR_OP_ULT && inst->op != IR_OP_UGT)) return false;
    for (int i = 0; i < 2; i++) memory[i] = memory_of(inst->operands[inst->op == IR_OP_ULT ? i : 1 - i]);
    return memory[0] && memory[1] && memory[0] != memory[1];
}

/* Each begins before the other ends. */
static bool is_overlap(const struct ir_inst *inst)
{
    const struct ir_value *first[2], *second[2];
    if (inst->op != IR_OP_AND || inst->type != IR_BOOL) return false;
    if (!is_below(inst->operands[0], first) || !is_below(inst->operands[1], second)) return false;
    return first[0] == second[1] && first[1] == second[0];
}

static void see_inst(struct ir_inst *inst, void *data)
{
    if (!is_overlap(inst)) return;
    struct ir_value *never = ir_const_int(inst->parent->function->module, IR_BOOL, 0);
    pass_operands_set(inst, (struct ir_value *[]){never, never}, 2); /* which folds */
    *(bool *)data = true;
}

static bool run_overlaps(struct ir_function *f)
{
    bool changed = false;
    if (f->linkage == IR_LINKAGE_KERNEL) ir_walk(f->body, see_inst, &changed);
    return changed;
}

const struct pass pass_overlaps = {"overlaps", "tests whether the memory of two parameters overlaps", run_overlaps};
