/* The loops over the work-items of a work-group, or of a row of work-groups: as many at once as there are lanes. */
#include "fuser/gccjit/emit.h"

struct counted counted_begin(struct emit *e, rval from, rval to, rval step)
{
    struct counted c = {jit_keep(e, from), to, step, jit_block(e), jit_block(e), jit_block(e)};
    jit_jump(e, c.head);
    jit_begin(e, c.head);
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_LT, jit_read(c.v), to), c.body, c.exit);
    jit_begin(e, c.body);
    return c;
}

void counted_end(struct emit *e, struct counted *c)
{
    jit_set(e, c->v, jit_add(e, jit_read(c->v), c->step));
    jit_jump(e, c->head);
    jit_begin(e, c->exit);
}

static rval number(struct emit *e, uint64_t v)
{
    return jit_int(e, IR_KIND_I64, v);
}

static rval minus(struct emit *e, rval a, rval b)
{
    return jit_binary(e, GCC_JIT_BINARY_OP_MINUS, a, b);
}

/* What each work-item runs. */
struct run {
    struct emit *e;
    const struct ir_inst *first, *end;
};

static void run_body(const struct run *r, struct mask exec)
{
    struct emit *e = r->e;
    gcc_jit_block *leave = jit_block(e);
    emit_reset(e);
    e->exec = exec;
    e->leave = leave;
    groups_item(e);
    emit_insts(e, r->first, r->end);
    if (e->block) jit_jump(e, leave);
    jit_begin(e, leave);
}

/* The work-items of a row that fill whole vectors. */
static void run_whole(const struct run *r, lval item, rval end)
{
    struct emit *e = r->e;
    gcc_jit_block *head = jit_block(e), *body = jit_block(e), *done = jit_block(e);
    jit_jump(e, head);
    jit_begin(e, head);
    rval at = jit_cast(e, jit_read(item), jit_signed(e, IR_KIND_I64));
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_LT, at, end), body, done);
    jit_begin(e, body);
    run_body(r, (struct mask){NULL});
    jit_set(e, item, jit_add(e, jit_read(item), number(e, e->width)));
    jit_jump(e, head);
    jit_begin(e, done);
}

/* The same once more with stores past the cache, where the launch asks for them and the kernel has any
   that could go there. */
static void run_streaming(const struct run *r, lval item, rval end)
{
    struct emit *e = r->e;
    if (!e->wants_stream) {
        run_whole(r, item, end);
        return;
    }
    gcc_jit_block *stream = jit_block(e), *usual = jit_block(e), *done = jit_block(e);
    jit_branch(e, e->wants_stream, stream, usual);
    jit_begin(e, usual);
    e->streams = false;
    run_whole(r, item, end);
    jit_jump(e, done);
    jit_begin(e, stream);
    if (e->streams) {
        e->stream = true;
        run_whole(r, item, end);
        e->stream = false;
        e->streamed = true;
        jit_jump(e, done);
    } else {
        jit_jump(e, usual);
    }
    jit_begin(e, done);
}

/* One row: whole vectors, then the rest under a mask. */
static void run_row(const struct run *r)
{
    struct emit *e = r->e;
    rval extent = e->place.extent[0], whole = minus(e, extent, number(e, e->width - 1));
    rval end = jit_read(jit_keep(e, jit_cast(e, whole, jit_signed(e, IR_KIND_I64))));
    lval item = jit_keep(e, number(e, 0));
    e->place.item[0] = jit_read(item);
    if (e->width == 1) {
        run_whole(r, item, end);
        return;
    }
    run_streaming(r, item, end);
    gcc_jit_block *tail = jit_block(e), *done = jit_block(e);
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_LT, jit_read(item), extent), tail, done);
    jit_begin(e, tail);
    run_body(r, mask_first(e, minus(e, extent, jit_read(item))));
    jit_jump(e, done);
    jit_begin(e, done);
}

void items_run(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    struct run r = {e, first, end};
    struct counted z = counted_begin(e, number(e, 0), e->place.extent[2], number(e, 1));
    e->place.item[2] = jit_read(z.v);
    struct counted y = counted_begin(e, number(e, 0), e->place.extent[1], number(e, 1));
    e->place.item[1] = jit_read(y.v);
    run_row(&r);
    counted_end(e, &y);
    counted_end(e, &z);
}
