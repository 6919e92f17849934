/*
 * Work-groups that run as one. A row of a small work-group is one vector, so that a number that all of the row want is
 * loaded for one operation, as a tile's are in a product of matrices. Here a work-item becomes two, at the same place
 * of groups that follow one another in x,
 *
 *     a = load A[y][k]
 *     s0 = fma a, B0[k][x], s0
 *     s1 = fma a, B1[k][x], s1
 *
 * An array of the work-group is there twice, but where both would put the same numbers into it, like A.
 */
#include "fuser/cpu/rows/joined_groups.h"

#include <stdio.h>

#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/rows/joined.h"
#include "fuser/cpu/rows/joined_cost.h"
#include "fuser/passes/alias.h"
#include "ir/core/module.h"

/* ---- what the second has of its own ---- */

static struct ir_value *own_array(struct ir_builder *b, const struct ir_global *of)
{
    char name[64];
    snprintf(name, sizeof name, "%.50s.next", of->name);
    struct ir_global *own = ir_global_new(b->module, name, of->space, of->type);
    own->align = of->align;
    own->linkage = of->linkage;
    return ir_build_global(b, own);
}

/* Ids are the first one's. */
static bool ask_groups(const struct joined *j, struct ir_inst *inst)
{
    struct ir_builder b = ir_builder_before(inst->next);
    bool global = inst->op == IR_OP_GLOBAL_ID;
    if (inst->op == IR_OP_GLOBAL) {
        joined_set(j, inst->results[0], 1, own_array(&b, inst->attrs.global));
    } else if (global || inst->op == IR_OP_GROUP_ID) {
        struct ir_value *step = ir_const_int(b.module, IR_I64, global ? j->kernel->work_group_size[0] : 1);
        joined_set(j, inst->results[0], 1, ir_build2(&b, IR_OP_ADD, IR_I64, inst->results[0], step));
    } else {
        return false;
    }
    return true;
}

/* ---- where it is possible, and pays ---- */

struct arrays {
    bool waits, some, unknown;
};

static void see_array(struct ir_inst *inst, void *data)
{
    struct arrays *a = data;
    if (inst->op == IR_OP_BARRIER) a->waits = true;
    if (inst->op == IR_OP_GLOBAL && inst->attrs.global->space == IR_SPACE_LOCAL) a->some = true;
    if (inst->op == IR_OP_STORE && !alias_root(inst->operands[0])) a->unknown = true;
}

static bool has_own_arrays(const struct ir_function *kernel)
{
    struct arrays a = {0};
    ir_walk(kernel->body, see_array, &a);
    return !uses_local_params(kernel) && a.waits && a.some && !a.unknown;
}

static bool pays(const struct joined *j)
{
    enum { LEAST_SHARED = 4, MOST_REGISTERS = 16 };
    struct joined_cost c = joined_cost_find(j);
    return c.scalars && (c.shared + c.scalars) * LEAST_SHARED >= c.all + c.scalars && j->n * c.alive <= MOST_REGISTERS;
}

/* ---- the pass ---- */

static bool run_joined_groups(struct ir_function *kernel)
{
    const uint32_t needed = IR_ASSUME_WHOLE_GROUPS | IR_ASSUME_PAIRED_GROUPS;
    if ((kernel->assumes & needed) != needed || uses_sub_groups(kernel) || !has_own_arrays(kernel)) return false;
    struct joined j;
    joined_begin(&j, kernel, TOGETHER_GROUPS);
    j.n = JOINED_GROUPS;
    j.ask = ask_groups;
    bool joins = joined_is_possible(&j) && pays(&j);
    if (joins) joined_make(&j);
    joined_end(&j);
    return joins;
}

const struct pass pass_joined_groups = {"joined_groups", "what is the same for two work-groups is there once for both",
                                        run_joined_groups};
