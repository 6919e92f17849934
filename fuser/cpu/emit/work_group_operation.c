/*
 * Operations of a work-group. Its work-items run one vector after the other, in the order of their linear ids, and each
 * vector adds its part to scalars of the group. The operands of a reduction are stored to memory and folded by halves
 * when all work-items have run: that order of a float sum is the interpreter's too.
 */
#include "fuser/cpu/emit/work_group_operation.h"

#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/emit/private_memory.h"
#include "fuser/cpu/emit/reduction.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/counted_loop.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/spill.h"

static bool is_scan(const struct ir_inst *inst)
{
    return inst->op == IR_OP_GROUP_SCAN_INCL || inst->op == IR_OP_GROUP_SCAN_EXCL;
}

/* The scalars of the group, one per component. */
static struct lanes *sums_of(struct emit *e, const struct ir_inst *inst)
{
    uint32_t number = inst->results[0]->scratch;
    if (!is_scan(inst)) return e->values->shared[number];
    unsigned n = ir_type_lanes(inst->type);
    struct lanes **sums = &e->values->sums[number];
    if (*sums) return *sums;
    *sums = arena_alloc(e->arena, n * sizeof **sums);
    for (unsigned c = 0; c < n; c++)
        (*sums)[c] = lanes_variable(e, ir_type_kind(inst->type), (struct shape){.kind = SHAPE_UNIFORM});
    return *sums;
}

void work_group_operation_begin(struct emit *e, const struct ir_inst *inst)
{
    if (inst->op == IR_OP_BARRIER) return;
    struct lanes *sums = sums_of(e, inst), first;
    if (inst->op == IR_OP_GROUP_ALL || inst->op == IR_OP_GROUP_ANY)
        first = lanes_int(e, IR_KIND_BOOL, inst->op == IR_OP_GROUP_ALL);
    else if (inst->op == IR_OP_GROUP_BROADCAST)
        first = lanes_uniform(sums->kind, jit_number(e, sums->kind, 0));
    else
        first = reduction_identity(e, inst, false);
    for (unsigned c = 0; c < ir_type_lanes(inst->results[0]->type); c++) lanes_assign(e, &sums[c], &first);
}

/* ---- what a vector of work-items adds ---- */

static void vote(struct emit *e, const struct ir_inst *inst, struct lanes *sum)
{
    const struct lanes *x = emit_value(e, inst->operands[0]);
    bool all = inst->op == IR_OP_GROUP_ALL;
    struct lanes r;
    if (x->shape != SHAPE_VARYING) {
        r = *x;
    } else {
        struct mask yes = mask_of(e, x);
        rval any =
            all ? jit_not(e, mask_any(e, mask_and_not(e, e->exec, yes))) : mask_any(e, mask_and(e, e->exec, yes));
        r = lanes_uniform(IR_KIND_BOOL, any);
    }
    r = op2(e, all ? IR_OP_AND : IR_OP_OR, IR_KIND_BOOL, *sum, r);
    lanes_assign(e, sum, &r);
}

static void scan(struct emit *e, const struct ir_inst *inst, struct lanes *sums, struct lanes *result)
{
    const struct lanes *v = emit_value(e, inst->operands[0]);
    rval first = jit_compare(e, GCC_JIT_COMPARISON_EQ, ids_local_linear(e), jit_int(e, IR_KIND_I64, 0));
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) result[c] = reduction_scan(e, inst, v[c], &sums[c], first);
}

/* The number of the lane with that id, from this vector's first on; others have numbers that no lane of it has. */
static rval lane_of(struct emit *e, const struct ir_inst *inst)
{
    const struct work_item_ids *p = e->ids;
    rval linear = NULL;
    for (uint32_t d = inst->n_operands - 1; d > 0; d--) {
        const struct lanes *v = emit_value(e, inst->operands[d]);
        rval id = jit_cast(e, lanes_get(e, v, 0), jit_type(e, IR_KIND_I64));
        linear = linear ? jit_add(e, jit_mul(e, linear, p->extent[d - 1]), id) : id;
    }
    return jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_MINUS, linear, ids_local_linear(e))));
}

static void broadcast(struct emit *e, const struct ir_inst *inst, struct lanes *sums)
{
    gcc_jit_block *take = jit_block(e), *done = jit_block(e);
    const struct lanes *v = emit_value(e, inst->operands[0]);
    rval lane = lane_of(e, inst);
    rval in_vector = jit_compare(e, GCC_JIT_COMPARISON_LT, lane, jit_int(e, IR_KIND_I64, e->width));
    rval there = jit_compare(e, GCC_JIT_COMPARISON_LT, lane, ids_items_left(e));
    jit_branch(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, in_vector, there), take, done);
    jit_begin(e, take);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        bool spilled = v[c].shape != SHAPE_UNIFORM;
        rval x = spilled ? spilled_lane(e, spill_lanes(e, &v[c]), lane) : v[c].scalar;
        struct lanes taken = lanes_uniform(sums[c].kind, x);
        lanes_assign(e, &sums[c], &taken);
    }
    jit_jump(e, done);
    jit_begin(e, done);
}

/* ---- reduction ---- */

/* What is folded: an array of numbers. `n` numbers from `from` on are combined into as many from its beginning on. */
struct fold {
    struct emit *e;
    const struct ir_inst *inst;
    rval base, from, n;
};

/* As many numbers as there are lanes, from number `at` on. */
static void fold_some(const struct fold *f, rval at)
{
    struct emit *e = f->e;
    enum ir_kind kind = ir_type_kind(f->inst->type);
    rval bytes = jit_u64(e, kind_bytes(kind));
    rval to = jit_add(e, f->base, jit_mul(e, at, bytes));
    struct lanes a = lanes_linear(IR_KIND_PTR, jit_read(jit_keep(e, to)), e->width > 1 ? kind_bytes(kind) : 0);
    struct lanes b = a;
    b.scalar = jit_read(jit_keep(e, jit_add(e, a.scalar, jit_mul(e, f->from, bytes))));
    struct lanes sum = op2(e, reduction_op(f->inst), kind, memory_load(e, kind, &a, 0), memory_load(e, kind, &b, 0));
    memory_store(e, &a, 0, &sum);
}

static void fold_all(const struct fold *f)
{
    struct emit *e = f->e;
    unsigned width = e->width;
    rval rest = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, f->n, jit_u64(e, width - 1));
    rval whole = jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_MINUS, f->n, rest)));
    struct counted vectors = counted_begin(e, jit_u64(e, 0), whole, jit_u64(e, width));
    fold_some(f, jit_read(vectors.v));
    counted_end(e, &vectors);
    if (width == 1) return;
    e->width = 1;
    struct counted singles = counted_begin(e, whole, f->n, jit_u64(e, 1));
    fold_some(f, jit_read(singles.v));
    counted_end(e, &singles);
    e->width = width;
}

/* The largest power of two below n, or 0. */
static rval half_of(struct emit *e, rval n)
{
    rval below = jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_MINUS, n, jit_u64(e, 1))));
    rval word = jit_cast(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, below, jit_u64(e, 1)),
                         jit_c(e, GCC_JIT_TYPE_UNSIGNED_LONG));
    rval zeros = jit_cast(e, jit_builtin(e, "__builtin_clzl", 1, &word), jit_type(e, IR_KIND_I64));
    rval top = jit_binary(e, GCC_JIT_BINARY_OP_LSHIFT, jit_u64(e, 1),
                          jit_binary(e, GCC_JIT_BINARY_OP_MINUS, jit_u64(e, 63), zeros));
    return jit_select(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, below, jit_u64(e, 0)), jit_u64(e, 0), top);
}

static void reduce(struct emit *e, const struct ir_inst *inst, struct lanes *sums)
{
    const struct work_item_ids *p = e->ids;
    rval base = private_memory_of_group(e, inst);
    rval lanes = jit_u64(e, ir_type_size(e->module, inst->type) / kind_bytes(ir_type_kind(inst->type)));
    lval n = jit_keep(e, jit_mul(e, jit_mul(e, p->extent[0], p->extent[1]), p->extent[2]));
    lval d = jit_keep(e, half_of(e, jit_read(n)));
    gcc_jit_block *head = jit_block(e), *body = jit_block(e), *done = jit_block(e);
    jit_jump(e, head);
    jit_begin(e, head);
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_GT, jit_read(d), jit_u64(e, 0)), body, done);
    jit_begin(e, body);
    rval from = jit_read(jit_keep(e, jit_mul(e, jit_read(d), lanes)));
    rval above = jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_MINUS, jit_read(n), jit_read(d))));
    struct fold f = {e, inst, base, from, jit_read(jit_keep(e, jit_mul(e, above, lanes)))};
    fold_all(&f);
    jit_set(e, n, jit_read(d));
    jit_set(e, d, jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_read(d), jit_u64(e, 1)));
    jit_jump(e, head);
    jit_begin(e, done);
    struct lanes first = lanes_uniform(IR_KIND_PTR, base);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        struct lanes sum = memory_load(e, sums[c].kind, &first, c);
        lanes_assign(e, &sums[c], &sum);
    }
}

void work_group_operation_end(struct emit *e, const struct ir_inst *inst)
{
    if (inst->op == IR_OP_GROUP_REDUCE) reduce(e, inst, sums_of(e, inst));
}

void emit_work_group_operation(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    if (inst->op == IR_OP_BARRIER) return;
    struct lanes *sums = sums_of(e, inst);
    const struct lanes *v = emit_value(e, inst->operands[0]);
    switch (inst->op) {
    case IR_OP_GROUP_ALL:
    case IR_OP_GROUP_ANY: vote(e, inst, sums); break;
    case IR_OP_GROUP_BROADCAST: broadcast(e, inst, sums); break;
    case IR_OP_GROUP_REDUCE: {
        struct lanes address;
        private_memory_of_item(e, inst, &address);
        for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) memory_store(e, &address, c, &v[c]);
        break;
    }
    default: scan(e, inst, sums, result); return;
    }
    /* Nothing reads these before all work-items have been here. */
    for (unsigned c = 0; c < ir_type_lanes(inst->results[0]->type); c++) result[c] = sums[c];
}
