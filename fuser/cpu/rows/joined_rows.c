/*
 * Rows that run as one. Where work-groups have rows in y, much of what a kernel loads and computes is often the same
 * for all rows, as one matrix's numbers are for all rows of the product. Here a work-item becomes several that follow
 * one another in y,
 *
 *     b = load B[k * n + x]
 *     s0 = fma A[(4 y) * n + k], b, s0   ...   s3 = fma A[(4 y + 3) * n + k], b, s3
 *
 * and a work-group has as many times fewer rows.
 */
#include "fuser/cpu/rows/joined_rows.h"

#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/rows/joined.h"
#include "fuser/cpu/rows/joined_cost.h"
#include "ir/core/facts.h"

enum { Y = 1 };

/* ---- ids and sizes ---- */

/* Of the first of the rows; ids of groups and their numbers are what they were. */
static struct ir_value *first_row(const struct joined *j, struct ir_builder *b, struct ir_inst *id)
{
    struct ir_value *n = ir_const_int(b->module, IR_I64, j->n);
    struct ir_value *at = ir_build2(b, IR_OP_MUL, IR_I64, id->results[0], n);
    if (id->op == IR_OP_LOCAL_ID) return at;
    struct ir_value *rest = ir_const_int(b->module, IR_I64, j->n - 1), *offset = ir_build_id(b, IR_OP_GLOBAL_OFFSET, Y);
    return ir_build2(b, IR_OP_SUB, IR_I64, at, ir_build2(b, IR_OP_MUL, IR_I64, offset, rest));
}

static bool ask_rows(const struct joined *j, struct ir_inst *inst)
{
    if (inst->op != IR_OP_GLOBAL_ID && inst->op != IR_OP_LOCAL_ID) return false;
    struct ir_builder b = ir_builder_before(inst->next);
    struct ir_value *first = first_row(j, &b, inst);
    for (unsigned row = 0; row < j->n; row++) {
        struct ir_value *n = ir_const_int(b.module, IR_I64, row);
        joined_set(j, inst->results[0], row, row ? ir_build2(&b, IR_OP_ADD, IR_I64, first, n) : first);
    }
    return true;
}

static void keep_size(struct ir_inst *inst, void *data)
{
    const struct joined *j = data;
    bool of_group = inst->op == IR_OP_LOCAL_SIZE || inst->op == IR_OP_ENQUEUED_LOCAL_SIZE;
    if (!of_group || inst->attrs.dim != Y) return;
    struct ir_value *size = ir_const_int(j->kernel->module, IR_I64, j->kernel->work_group_size[Y]);
    ir_replace_uses(j->kernel->body, inst->results[0], size);
}

/* ---- the pass ---- */

/* How many rows are best run as one. */
static unsigned best_rows(const struct joined *j)
{
    enum { LEAST_SHARED = 4, MOST_REGISTERS = 12 };
    if (!joined_is_possible(j)) return 1;
    struct joined_cost c = joined_cost_find(j);
    if (2 * c.along_next <= c.along_row || c.shared * LEAST_SHARED < c.all || !c.shared) return 1;
    unsigned rows = MOST_JOINED;
    while (rows > 1 && (rows * c.alive > MOST_REGISTERS || j->kernel->work_group_size[Y] % rows)) rows /= 2;
    return rows;
}

static bool run_joined_rows(struct ir_function *kernel)
{
    const uint32_t *size = kernel->work_group_size;
    if (size[0] < 4 || size[Y] < 2 || uses_sub_groups(kernel) || !(kernel->assumes & IR_ASSUME_WHOLE_GROUPS))
        return false;
    struct joined j;
    bool moved = joined_begin(&j, kernel, TOGETHER_COLUMN);
    j.n = best_rows(&j);
    j.ask = ask_rows;
    if (j.n > 1) {
        ir_walk(kernel->body, keep_size, &j);
        joined_make(&j);
        kernel->work_group_size[Y] /= j.n;
    }
    joined_end(&j);
    return moved || j.n > 1;
}

const struct pass pass_joined_rows = {"joined_rows", "what is the same along y is there once for several rows",
                                      run_joined_rows};
