/* The loops over the work-items of a work-group, or of a row of work-groups: as many at once as there are lanes. */
#include "fuser/cpu/work_group/work_item_loop.h"

#include "fuser/cpu/emit/control.h"
#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/emit/private_memory.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/counted_loop.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/lanes.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/target/isa.h"

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
    e->control->leave = leave;
    private_memory_begin(e);
    emit_insts(e, r->first, r->end);
    if (e->block) jit_jump(e, leave);
    jit_begin(e, leave);
}

/* The work-items of a row that fill whole vectors. */
static void run_whole_vectors(const struct run *r, lval item, rval end)
{
    struct emit *e = r->e;
    gcc_jit_block *head = jit_block(e), *body = jit_block(e), *done = jit_block(e);
    jit_jump(e, head);
    jit_begin(e, head);
    rval at = jit_cast(e, jit_read(item), jit_signed(e, IR_KIND_I64));
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_LT, at, end), body, done);
    jit_begin(e, body);
    run_body(r, (struct mask){NULL});
    jit_set(e, item, jit_add(e, jit_read(item), jit_u64(e, e->width)));
    jit_jump(e, head);
    jit_begin(e, done);
}

/* The same once more with stores past the cache, where the launch asks for them and the kernel has any
   that could go there. */
static void run_vectors_past_cache(const struct run *r, lval item, rval end)
{
    struct emit *e = r->e;
    if (!e->memory->wants_stream) {
        run_whole_vectors(r, item, end);
        return;
    }
    gcc_jit_block *stream = jit_block(e), *usual = jit_block(e), *done = jit_block(e);
    jit_branch(e, e->memory->wants_stream, stream, usual);
    jit_begin(e, usual);
    e->memory->streams = false;
    run_whole_vectors(r, item, end);
    jit_jump(e, done);
    jit_begin(e, stream);
    if (e->memory->streams) {
        e->memory->stream = true;
        run_whole_vectors(r, item, end);
        e->memory->stream = false;
        e->memory->streamed = true;
        jit_jump(e, done);
    } else {
        jit_jump(e, usual);
    }
    jit_begin(e, done);
}

/* Whether a work-item for whom the condition of an if does not hold does nothing at all. */
static bool is_one_if(const struct run *r)
{
    const struct ir_inst *inst = r->first;
    for (; inst && inst != r->end && inst->op != IR_OP_IF; inst = inst->next)
        if (!(ir_op_info(inst->op)->flags & IR_FLAG_PURE) && (inst->op != IR_OP_LOAD || inst->attrs.is_volatile))
            return false;
    if (!inst || inst == r->end) return false;
    while ((inst = inst->next) && inst != r->end)
        if (inst->op != IR_OP_BARRIER) return false;
    return true;
}

/* The lanes below count, 1 to 64. */
static struct mask lanes_below(struct emit *e, rval count)
{
    if (!e->isa->bit_masks) {
        struct lanes lane = lanes_linear(IR_KIND_I32, jit_int(e, IR_KIND_I32, 0), 1, NULL);
        struct lanes end = lanes_uniform(IR_KIND_I32, jit_cast(e, count, jit_type(e, IR_KIND_I32)));
        struct lanes below = op2(e, IR_OP_SLT, IR_KIND_BOOL, lane, end);
        return mask_of(e, &below);
    }
    rval unused = jit_binary(e, GCC_JIT_BINARY_OP_MINUS, jit_int(e, IR_KIND_I64, 64), count);
    lval bits = jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_int(e, IR_KIND_I64, UINT64_MAX), unused));
    struct mask r = {arena_alloc(e->arena, mask_chunks(e) * sizeof *r.chunk)};
    for (unsigned c = 0; c < mask_chunks(e); c++) {
        rval part = jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_read(bits), jit_int(e, IR_KIND_I64, 16 * c));
        r.chunk[c] = jit_keep(e, jit_cast(e, part, mask_type(e)));
    }
    return r;
}

/* Work-items up to `extent`: whole vectors, then the rest under a mask. */
static void run_vectors_and_rest(const struct run *r, lval item, rval extent)
{
    struct emit *e = r->e;
    rval whole = jit_sub(e, extent, jit_u64(e, e->width - 1));
    rval end = jit_read(jit_keep(e, jit_cast(e, whole, jit_signed(e, IR_KIND_I64))));
    if (e->width == 1) {
        run_whole_vectors(r, item, end);
        return;
    }
    gcc_jit_block *tail = jit_block(e), *done = jit_block(e);
    e->control->row_end = is_one_if(r) ? done : NULL;
    run_vectors_past_cache(r, item, end);
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_LT, jit_read(item), extent), tail, done);
    jit_begin(e, tail);
    run_body(r, lanes_below(e, jit_sub(e, extent, jit_read(item))));
    jit_jump(e, done);
    jit_begin(e, done);
}

static void run_row(const struct run *r)
{
    struct emit *e = r->e;
    rval extent = e->ids->extent[0];
    lval item = jit_keep(e, jit_u64(e, 0));
    e->ids->item[0] = jit_read(item);
    run_vectors_and_rest(r, item, extent);
}

static void run_rows(const struct run *r)
{
    struct emit *e = r->e;
    struct counted z = counted_begin(e, jit_u64(e, 0), e->ids->extent[2], jit_u64(e, 1));
    e->ids->item[2] = jit_read(z.v);
    struct counted y = counted_begin(e, jit_u64(e, 0), e->ids->extent[1], jit_u64(e, 1));
    e->ids->item[1] = jit_read(y.v);
    run_row(r);
    counted_end(e, &y);
    counted_end(e, &z);
}

/* ---- sub-groups ---- */

static void swap_uniformity(struct emit *e)
{
    struct uniformity rows = e->values->uniformity;
    e->values->uniformity = e->values->flat_uniformity;
    e->values->flat_uniformity = rows;
}

/* The work-group as if it were one row. */
static void run_flat(const struct run *r)
{
    struct emit *e = r->e;
    struct counted at = counted_begin(e, jit_u64(e, 0), e->ids->items, jit_u64(e, e->width));
    e->ids->flat = at.v;
    e->control->row_end = NULL;
    swap_uniformity(e);
    run_body(r, lanes_below(e, jit_min(e, ids_items_left(e), jit_u64(e, e->width))));
    swap_uniformity(e);
    e->ids->flat = NULL;
    counted_end(e, &at);
}

/* Whether no sub-group of this work-group goes on from one row to the next. */
static rval rows_are_whole(struct emit *e)
{
    const struct work_item_ids *p = e->ids;
    rval rest = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, p->extent[0], jit_u64(e, e->width - 1));
    rval whole = jit_compare(e, GCC_JIT_COMPARISON_EQ, rest, jit_u64(e, 0));
    rval single = jit_compare(e, GCC_JIT_COMPARISON_EQ, p->extent[0], p->items);
    return jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, whole, single);
}

/* Whether that is known beforehand. */
static bool is_row(const struct ir_function *kernel)
{
    const uint32_t *size = kernel->work_group_size;
    return size[0] && size[1] == 1 && size[2] == 1;
}

static void run_sub_groups(const struct run *r)
{
    struct emit *e = r->e;
    gcc_jit_block *rows = jit_block(e), *flat = jit_block(e), *done = jit_block(e);
    jit_branch(e, rows_are_whole(e), rows, flat);
    jit_begin(e, rows);
    run_rows(r);
    jit_jump(e, done);
    jit_begin(e, flat);
    run_flat(r);
    jit_jump(e, done);
    jit_begin(e, done);
}

void work_item_loop_run(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    struct run r = {e, first, end};
    if (e->sub_groups && e->width > 1 && !is_row(e->kernel))
        run_sub_groups(&r);
    else
        run_rows(&r);
}
