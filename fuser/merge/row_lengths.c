/*
 * How long rows are that work-groups go over. Where the launch goes by a scalar being the number that it was, and a row
 * of that length is a few rounds of the group, the scalar is that number in its code, too: then the rounds are known,
 * and what a work-item has of its row stays in registers from one barrier to the next (passes/loops/unroll.c). For
 * other numbers that is other code, as it would be for other numbers of rounds.
 */
#include "fuser/merge/row_lengths.h"

#include "fuser/passes/loops/equal_loops.h"
#include "fuser/passes/loops/row_loop.h"

struct lengths {
    struct fuse *fuse;
    bool *found; /* by parameter of the request */
    bool any;
};

/* Whether all work-items of a group have the same few rounds. */
static bool is_few_rounds(const struct fuse_request *r, const struct row_loop *row, uint64_t length)
{
    return row->step >= r->range.local[0] && length % row->step == 0 && length / row->step <= ROW_MOST_ROUNDS;
}

static void see_loop(struct ir_inst *inst, void *data)
{
    struct lengths *l = data;
    const struct fuse_request *r = l->fuse->request;
    struct tested_loop loop;
    struct row_loop row;
    if (inst->op != IR_OP_LOOP || !tested_loop_read(inst, &loop) || !row_loop_read(loop.test, loop.next, &row)) return;
    if (row.end->kind != IR_VALUE_PARAM) return;
    const struct fuse_param *p = &r->params[row.end->index];
    if (p->number <= 0 || p->number > ROW_LONGEST || !is_few_rounds(r, &row, (uint64_t)p->number)) return;
    l->found[row.end->index] = l->any = true;
}

bool row_lengths_fix(struct fuse *f)
{
    struct lengths l = {.fuse = f, .found = ir_alloc(f->module, f->request->n_params + 1)};
    if (!f->request->range.local[0] || !row_loops_meet(f->kernel)) return false;
    ir_walk(f->kernel->body, see_loop, &l);
    for (uint32_t i = 0; i < f->request->n_params; i++) {
        const struct ir_value *v = f->kernel->params[i].value;
        if (!l.found[i]) continue;
        ir_replace_uses(f->kernel->body, v, ir_const_int(f->module, v->type, (uint64_t)f->request->params[i].number));
    }
    return l.any;
}
