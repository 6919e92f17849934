/* The loop over the work-groups of a range. Neighbours in x run as one where no work-item can tell, and whole rows of
   them too, which are rows of tiles then. */
#include "fuser/cpu/work_group/work_group_loop.h"

#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/jit/counted_loop.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/work_group/regions.h"
#include "fuser/cpu/work_group/work_item_loop.h"

/* What can be told of work-groups. */
struct uses {
    bool of_groups, of_y;
};

static void see_use_of_group(struct ir_inst *inst, void *data)
{
    struct uses *uses = data;
    if (is_sub_group_operation(inst) || ir_op_class(inst->op) == IR_CLASS_COLLECTIVE) uses->of_groups = true;
    switch (inst->op) {
    case IR_OP_GLOBAL_ID: uses->of_y = uses->of_y || inst->attrs.dim == 1; break;
    case IR_OP_LOCAL_ID:
    case IR_OP_LOCAL_LINEAR_ID:
    case IR_OP_LOCAL_SIZE:
    case IR_OP_GROUP_ID: uses->of_groups = true; break;
    case IR_OP_GLOBAL:
        if (inst->attrs.global->space == IR_SPACE_LOCAL) uses->of_groups = true;
        break;
    default: break;
    }
}

static struct uses uses_of(const struct ir_function *kernel)
{
    struct uses uses = {.of_groups = uses_local_params(kernel)};
    ir_walk(kernel->body, see_use_of_group, &uses);
    return uses;
}

/* How many work-items every group has in one dimension; 0: that is not known. */
static uint32_t known_size(const struct ir_function *kernel, unsigned d)
{
    uint32_t size = kernel->work_group_size[d];
    return size == 1 || kernel->assumes & IR_ASSUME_WHOLE_GROUPS ? size : 0;
}

/* Start and extent of the group in one dimension; n groups of it at once, NULL: one. */
static void set_group(struct emit *e, unsigned d, rval group, rval n)
{
    struct work_item_ids *p = e->ids;
    uint32_t known = p->known_extent[d] = n ? 0 : known_size(e->kernel, d);
    p->group[d] = jit_read(jit_keep(e, group));
    p->start[d] = jit_read(jit_keep(e, jit_mul(e, p->group[d], p->local_size[d])));
    rval size = n ? jit_mul(e, n, p->local_size[d]) : p->local_size[d];
    if (known)
        p->extent[d] = jit_u64(e, known);
    else
        p->extent[d] = jit_read(jit_keep(e, jit_min(e, size, jit_sub(e, p->global_size[d], p->start[d]))));
}

/* How many groups run as one: of a row of them, and of rows that are there from end to end. */
struct merged {
    lval columns, rows;
    rval in_row; /* how many there are in a row; those that always run as one count as one here */
};

static rval in_joined(struct emit *e, rval n)
{
    if (e->groups == 1) return n;
    rval most = jit_add(e, n, jit_u64(e, e->groups - 1));
    return jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_DIVIDE, most, jit_u64(e, e->groups))));
}

/* The next group in the order of linear ids. */
static void go_on(struct emit *e, lval at[3], const struct merged *m)
{
    const struct work_item_ids *p = e->ids;
    gcc_jit_block *there = jit_block(e);
    jit_set(e, at[0], jit_add(e, jit_read(at[0]), jit_read(m->columns)));
    for (unsigned d = 0; d < 2; d++) {
        gcc_jit_block *carry = jit_block(e);
        rval n = d == 0 ? jit_read(m->rows) : jit_u64(e, 1), all = d == 0 ? m->in_row : p->num_groups[d];
        jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_LT, jit_read(at[d]), all), there, carry);
        jit_begin(e, carry);
        jit_set(e, at[d], jit_u64(e, 0));
        jit_set(e, at[d + 1], jit_add(e, jit_read(at[d + 1]), n));
    }
    jit_jump(e, there);
    jit_begin(e, there);
}

/* The place of the group with a linear id. */
static void find_group(struct emit *e, rval linear, const struct merged *m, lval at[3])
{
    for (unsigned d = 0; d < 2; d++) {
        rval all = d == 0 ? m->in_row : e->ids->num_groups[d];
        at[d] = jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_MODULO, linear, all));
        linear = jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_DIVIDE, linear, all)));
    }
    at[2] = jit_keep(e, linear);
}

static void merge_groups(struct emit *e, const struct merged *m, lval at[3], rval left, bool rows)
{
    const struct work_item_ids *p = e->ids;
    jit_set(e, m->columns, jit_min(e, left, jit_sub(e, p->num_groups[0], jit_read(at[0]))));
    if (!rows) return;
    gcc_jit_block *whole = jit_block(e), *done = jit_block(e);
    jit_set(e, m->rows, jit_u64(e, 1));
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, jit_read(m->columns), p->num_groups[0]), whole, done);
    jit_begin(e, whole);
    rval n = jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_DIVIDE, left, p->num_groups[0])));
    jit_set(e, m->rows, jit_min(e, n, jit_sub(e, p->num_groups[1], jit_read(at[1]))));
    jit_jump(e, done);
    jit_begin(e, done);
}

void work_group_loop_run(struct emit *e, rval first, rval end)
{
    struct work_item_ids *p = e->ids;
    struct uses uses = uses_of(e->kernel);
    bool merge = !uses.of_groups && e->groups == 1, merge_rows = merge && uses.of_y;
    struct merged m = {jit_keep(e, jit_u64(e, 1)), jit_keep(e, jit_u64(e, 1)), in_joined(e, p->num_groups[0])};
    lval step = jit_keep(e, jit_u64(e, 1)), at[3];
    first = in_joined(e, first); /* whoever runs the first of some that are joined runs all of them */
    end = in_joined(e, end);
    find_group(e, first, &m, at);
    struct counted g = counted_begin(e, first, end, jit_read(step));
    if (merge) {
        merge_groups(e, &m, at, jit_read(jit_keep(e, jit_sub(e, end, jit_read(g.v)))), merge_rows);
        jit_set(e, step, jit_mul(e, jit_read(m.columns), jit_read(m.rows)));
    }
    set_group(e, 0, jit_mul(e, jit_read(at[0]), jit_u64(e, e->groups)), merge ? jit_read(m.columns) : NULL);
    set_group(e, 1, jit_read(at[1]), merge_rows ? jit_read(m.rows) : NULL);
    set_group(e, 2, jit_read(at[2]), NULL);
    if (e->sub_groups)
        p->items = jit_read(jit_keep(e, jit_mul(e, jit_mul(e, p->extent[0], p->extent[1]), p->extent[2])));
    if (e->regions)
        regions_run(e);
    else
        work_item_loop_run(e, e->kernel->body->first, NULL);
    go_on(e, at, &m);
    counted_end(e, &g);
}
