/*
 * The coarser kernel:
 *
 *     aligned = items is more than 1, and all vectors lie where vectors may
 *     if (aligned and the work-items are all in the range and agree on their conditions)
 *         the work of all, by vectors
 *     else
 *         one after the other
 *
 * One after the other, neighbours are work-items of one another's next where they are not aligned, so that they still
 * access neighbouring numbers at the same time. Whether a row of work-items is aligned is the same for all of it: in a
 * row addresses grow by whole vectors.
 */
#include "fuser/coarsen/coarsen.h"

#include "fuser/coarsen/copy.h"
#include "fuser/coarsen/survey.h"
#include "fuser/coarsen/together.h"

/* Who a work-item is, in numbers of the given ones. */
struct place {
    struct ir_value *group_start, *local_id, *local_size, *items; /* i64 */
    struct ir_value *first;                                       /* of those that it does by vectors */
};

static struct place find_place(struct ir_builder *b, struct ir_value *items)
{
    struct place p = {.local_id = ir_build_id(b, IR_OP_LOCAL_ID, 0),
                      .local_size = ir_build_id(b, IR_OP_ENQUEUED_LOCAL_SIZE, 0),
                      .items = ir_build1(b, IR_OP_ZEXT, IR_I64, items)};
    struct ir_value *group_items = ir_build2(b, IR_OP_MUL, IR_I64, p.local_size, p.items);
    p.group_start = ir_build2(b, IR_OP_MUL, IR_I64, ir_build_id(b, IR_OP_GROUP_ID, 0), group_items);
    p.first = ir_build2(b, IR_OP_ADD, IR_I64, p.group_start, ir_build2(b, IR_OP_MUL, IR_I64, p.local_id, p.items));
    return p;
}

static void clear_values(struct coarse *c)
{
    for (unsigned k = 0; k < c->items; k++) c->to[k] = arena_alloc(c->arena, c->u.n_values * sizeof **c->to);
}

/* One after the other: from `start` on, so many, each `step` behind the one before. */
static void one_by_one(struct coarse *c, struct ir_block *block, struct ir_value *start, struct ir_value *step,
                       struct ir_value *n, const struct ir_inst *first)
{
    struct ir_builder b = ir_builder_at_end(block);
    struct ir_value *begin[2] = {ir_const_int(b.module, IR_I32, 0), start};
    struct ir_inst *loop = ir_build_loop(&b, begin, 2, NULL, 0);
    ir_build(&b, IR_OP_YIELD, IR_VOID, NULL, 0);
    struct ir_builder body = ir_builder_at_end(loop->blocks[0]);
    struct ir_value *round = loop->blocks[0]->args[0], *item = loop->blocks[0]->args[1];
    struct ir_inst *more = ir_build_if(&body, ir_build2(&body, IR_OP_ULT, IR_I32, round, n), NULL, 0);
    ir_build(&body, IR_OP_BREAK, IR_VOID, NULL, 0);
    struct ir_builder other = ir_builder_at_end(more->blocks[1]), in = ir_builder_at_end(more->blocks[0]);
    ir_build(&other, IR_OP_YIELD, IR_VOID, NULL, 0);
    struct ir_inst *inside = ir_build_if(&in, ir_build2(&in, IR_OP_ULT, IR_I64, item, c->size), NULL, 0);
    struct ir_value *next[2] = {ir_build2(&in, IR_OP_ADD, IR_I32, round, ir_const_int(in.module, IR_I32, 1)),
                                ir_build2(&in, IR_OP_ADD, IR_I64, item, step)};
    ir_build(&in, IR_OP_CONTINUE, IR_VOID, next, 2);
    struct ir_builder own = ir_builder_at_end(inside->blocks[0]);
    clear_values(c);
    c->ids[0] = ir_build2(&own, IR_OP_ADD, IR_I64, item, c->offset);
    copy_all(c, &own, first, 0);
    ir_build(&own, IR_OP_YIELD, IR_VOID, NULL, 0);
    own = ir_builder_at_end(inside->blocks[1]);
    ir_build(&own, IR_OP_YIELD, IR_VOID, NULL, 0);
}

static struct ir_value *both(struct ir_builder *b, struct ir_value *x, struct ir_value *y)
{
    return ir_build2(b, IR_OP_AND, IR_BOOL, x, y);
}

static void make_body(struct coarse *c, const struct ir_inst *first, struct ir_value *items)
{
    struct ir_builder b = ir_builder_at_end(c->kernel->body);
    struct place p = find_place(&b, items);
    clear_values(c);
    c->ids[0] = ir_build2(&b, IR_OP_ADD, IR_I64, p.first, c->offset);
    for (unsigned k = 1; k < c->items; k++)
        c->ids[k] = ir_build2(&b, IR_OP_ADD, IR_I64, c->ids[0], ir_const_int(b.module, IR_I64, k));
    struct ir_value *several = ir_build2(&b, IR_OP_IEQ, IR_I32, items, ir_const_int(b.module, IR_I32, c->items));
    struct ir_value *aligned = both(&b, several, together_aligned(c, &b, first));
    struct ir_value *end = ir_build2(&b, IR_OP_ADD, IR_I64, p.first, ir_const_int(b.module, IR_I64, c->items));
    struct ir_value *inside = ir_build2(&b, IR_OP_ULE, IR_I64, end, c->size);
    struct ir_value *fast = both(&b, both(&b, aligned, inside), together_agreed(c, &b, first));
    struct ir_value *start = ir_build2(&b, IR_OP_ADD, IR_I64, p.group_start, p.local_id);
    start = ir_build3(&b, IR_OP_SELECT, IR_I64, aligned, p.first, start);
    struct ir_value *one = ir_const_int(b.module, IR_I64, 1);
    struct ir_value *step = ir_build3(&b, IR_OP_SELECT, IR_I64, aligned, one, p.local_size);
    struct ir_inst *way = ir_build_if(&b, fast, NULL, 0);
    ir_build(&b, IR_OP_RETURN, IR_VOID, NULL, 0);
    struct ir_builder in = ir_builder_at_end(way->blocks[0]);
    together_all(c, &in, first);
    ir_build(&in, IR_OP_YIELD, IR_VOID, NULL, 0);
    one_by_one(c, way->blocks[1], start, step, items, first);
}

unsigned coarsen(struct ir_function *kernel)
{
    struct coarse c = {.arena = arena_new(), .kernel = kernel, .items = 1};
    if (survey(&c)) {
        const struct ir_inst *first = kernel->body->first;
        kernel->body->first = kernel->body->last = NULL;
        c.size = ir_function_add_param(kernel, NULL, IR_I64);
        c.offset = ir_function_add_param(kernel, NULL, IR_I64);
        make_body(&c, first, ir_function_add_param(kernel, NULL, IR_I32));
    } else {
        c.items = 1;
    }
    arena_free(c.arena);
    return c.items;
}
