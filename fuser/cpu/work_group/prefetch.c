/*
 * Prefetch. While the work-items of a group are at a barrier, memory would be idle: what the next group will load
 * before its first barrier is fetched as soon as this group has its own. The addresses are computed once more, at the
 * next group's place; a fetch has no effect but on time, so it may well be of something that is never loaded.
 */
#include "fuser/cpu/work_group/prefetch.h"

#include "fuser/cpu/emit/control.h"
#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/emit/private_memory.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/counted_loop.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/cpu/simd/lanes.h"

static bool is_recomputable(const struct ir_inst *inst)
{
    return (ir_op_info(inst->op)->flags & IR_FLAG_PURE) || ir_op_class(inst->op) == IR_CLASS_ND_RANGE;
}

static bool is_prefetched(const struct ir_inst *inst)
{
    return inst->op == IR_OP_LOAD && !inst->attrs.is_volatile &&
           ir_type_space(inst->operands[0]->type) == IR_SPACE_GLOBAL;
}

/* Whether there is something to fetch whose address does not itself come from memory. */
static bool loads_anything(const struct ir_inst *first, const struct ir_inst *end)
{
    for (const struct ir_inst *i = first; i != end; i = i->next)
        if (is_prefetched(i)) return true;
    return false;
}

static bool are_operands_known(const struct emit *e, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct ir_value *v = inst->operands[i];
        if (v->kind >= IR_VALUE_BLOCK_ARG && !e->values->lanes[v->scratch]) return false;
    }
    return true;
}

/* Lanes that are groups each have lines of their own, which work-items that follow one another in a group share. */
static void prefetch_columns(struct emit *e, const struct lanes *address, uint64_t bytes)
{
    enum { LINE_BYTES = 64 }; /* of the caches */
    int64_t items = LINE_BYTES / (int64_t)bytes;
    if (LINE_BYTES % bytes || address->stride % LINE_BYTES) return;
    gcc_jit_block *there = jit_block(e), *next = jit_block(e);
    rval place = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, e->ids->item[1], jit_u64(e, (uint64_t)items - 1));
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, place, jit_u64(e, 0)), there, next);
    jit_begin(e, there);
    for (unsigned lane = 0; lane < e->width; lane++) memory_prefetch(e, lanes_get(e, address, lane), 1);
    jit_jump(e, next);
    jit_begin(e, next);
}

/* Each line that a vector of work-items loads from. */
static void prefetch_lines(struct emit *e, const struct ir_inst *inst)
{
    struct lanes address = *emit_value(e, inst->operands[0]);
    uint64_t bytes = kind_bytes(ir_type_kind(inst->type)) * ir_type_lanes(inst->type);
    if (address.shape != SHAPE_LINEAR) return;
    if (address.stride == (int64_t)bytes)
        memory_prefetch(e, address.scalar, bytes * e->width);
    else if (e->group_lanes)
        prefetch_columns(e, &address, bytes);
}

static void prefetch_region(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    for (const struct ir_inst *i = first; i != end; i = i->next) {
        for (uint32_t k = 0; k < i->n_results; k++) e->values->lanes[i->results[k]->scratch] = NULL;
        if (!are_operands_known(e, i)) continue;
        if (is_prefetched(i)) prefetch_lines(e, i);
        if (is_recomputable(i) && !i->blocks[0]) emit_insts(e, i, i->next);
    }
}

/* The whole vectors of the next group in x, if that is ours too. */
void prefetch_next_group(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    if (!loads_anything(first, end) || e->width == 1 || e->sub_groups) return;
    struct work_item_ids here = *e->ids, *p = e->ids;
    struct lanes **shared = e->values->shared; /* of this group: not touched */
    e->values->shared = arena_alloc(e->arena, (e->values->uniformity.n_values + 1) * sizeof *e->values->shared);
    gcc_jit_block *there = jit_block(e), *done = jit_block(e);
    rval groups = jit_u64(e, e->groups);
    p->group[0] = jit_read(jit_keep(e, jit_add(e, here.group[0], groups)));
    p->start[0] = jit_read(jit_keep(e, jit_add(e, here.start[0], jit_mul(e, groups, here.local_size[0]))));
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_LT, p->group[0], here.num_groups[0]), there, done);
    jit_begin(e, there);
    rval zero = jit_int(e, IR_KIND_I64, 0);
    struct counted z = counted_each(e, here.extent[2], here.known_extent[2]);
    p->item[2] = jit_read(z.v);
    struct counted y = counted_each(e, here.extent[1], here.known_extent[1]);
    p->item[1] = jit_read(y.v);
    struct counted x = counted_begin(e, zero, here.extent[0], jit_int(e, IR_KIND_I64, e->width));
    p->item[0] = jit_read(x.v);
    emit_reset(e);
    private_memory_begin(e);
    prefetch_region(e, first, end);
    counted_end(e, &x);
    counted_end(e, &y);
    counted_end(e, &z);
    jit_jump(e, done);
    jit_begin(e, done);
    *p = here;
    e->values->shared = shared;
    emit_reset(e);
}
