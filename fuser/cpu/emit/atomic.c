/*
 * Atomic operations, lane by lane: each through gcc's atomics, but in memory that belongs to a work-group or a
 * work-item, which one thread runs from its first work-item to its last, as a plain load and store.
 */
#include "fuser/cpu/emit/atomic.h"

#include <stdio.h>

#include "fuser/cpu/emit/again.h"
#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/emit/reduction.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/counted_loop.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/cpu/rows/copied_bins.h"
#include "fuser/cpu/simd/lane_loop.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/spill.h"
#include "ir/core/edit.h"

static rval order_of(struct emit *e, unsigned o)
{
    static const int c_order[IR_ORDER_COUNT] = {[IR_ORDER_RELAXED] = __ATOMIC_RELAXED,
                                                [IR_ORDER_ACQUIRE] = __ATOMIC_ACQUIRE,
                                                [IR_ORDER_RELEASE] = __ATOMIC_RELEASE,
                                                [IR_ORDER_ACQ_REL] = __ATOMIC_ACQ_REL,
                                                [IR_ORDER_SEQ_CST] = __ATOMIC_SEQ_CST};
    return gcc_jit_context_new_rvalue_from_int(e->gcc, jit_c(e, GCC_JIT_TYPE_INT), c_order[o]);
}

static rval c_int(struct emit *e, int v)
{
    return gcc_jit_context_new_rvalue_from_int(e->gcc, jit_c(e, GCC_JIT_TYPE_INT), v);
}

/* gcc's function for a width: __atomic_<name>_<bytes>. Its arguments are cast to what it declares. */
static rval atomic_call(struct emit *e, const char *name, enum ir_kind kind, unsigned n, rval *args)
{
    char full[48];
    snprintf(full, sizeof full, "__atomic_%s_%u", name, kind_bytes(kind));
    gcc_jit_function *f = gcc_jit_context_get_builtin_function(e->gcc, full);
    for (unsigned i = 0; i < n; i++) {
        gcc_jit_type *want = gcc_jit_rvalue_get_type(gcc_jit_param_as_rvalue(gcc_jit_function_get_param(f, (int)i)));
        bool pointer = i == 0 || (i == 1 && gcc_jit_type_is_pointer(want));
        args[i] = pointer ? jit_bits(e, args[i], want) : jit_cast(e, args[i], want);
    }
    return gcc_jit_context_new_call(e->gcc, NULL, f, (int)n, args);
}

static enum ir_kind bits_kind(enum ir_kind kind)
{
    return kind_of_bytes(kind_bytes(kind));
}

static const char *fetch_name(enum ir_op op)
{
    switch (op) {
    case IR_OP_ATOMIC_ADD: return "fetch_add";
    case IR_OP_ATOMIC_SUB: return "fetch_sub";
    case IR_OP_ATOMIC_AND: return "fetch_and";
    case IR_OP_ATOMIC_OR: return "fetch_or";
    case IR_OP_ATOMIC_XOR: return "fetch_xor";
    case IR_OP_ATOMIC_XCHG: return "exchange";
    default: return NULL;
    }
}

static enum ir_op combining_op(enum ir_op op)
{
    switch (op) {
    case IR_OP_ATOMIC_ADD: return IR_OP_ADD;
    case IR_OP_ATOMIC_SUB: return IR_OP_SUB;
    case IR_OP_ATOMIC_AND: return IR_OP_AND;
    case IR_OP_ATOMIC_OR: return IR_OP_OR;
    case IR_OP_ATOMIC_XOR: return IR_OP_XOR;
    case IR_OP_ATOMIC_SMIN: return IR_OP_SMIN;
    case IR_OP_ATOMIC_UMIN: return IR_OP_UMIN;
    case IR_OP_ATOMIC_SMAX: return IR_OP_SMAX;
    case IR_OP_ATOMIC_UMAX: return IR_OP_UMAX;
    case IR_OP_ATOMIC_FADD: return IR_OP_FADD;
    case IR_OP_ATOMIC_FMIN: return IR_OP_FMIN;
    default: return IR_OP_FMAX;
    }
}

/* The new value where `old` was, as bits. */
static rval combined(struct emit *e, const struct ir_inst *inst, enum ir_kind kind, lval old, rval v)
{
    enum ir_kind bits = bits_kind(kind);
    struct lanes was = op_bits(e, lanes_uniform(bits, jit_read(old)), kind);
    struct lanes now = op2(e, combining_op(inst->op), kind, was, lanes_uniform(kind, v));
    return op_bits(e, now, bits).scalar;
}

/* Compare and exchange. expected is set to what memory holds. */
static rval compare_exchange(struct emit *e, const struct ir_inst *inst, enum ir_kind bits, rval address, lval expected,
                             rval desired, unsigned failure)
{
    rval args[6] = {address,     jit_address(e, expected),       desired,
                    c_int(e, 0), order_of(e, inst->attrs.order), order_of(e, failure)};
    return jit_read(
        jit_keep(e, jit_cast(e, atomic_call(e, "compare_exchange", bits, 6, args), jit_type(e, IR_KIND_BOOL))));
}

static rval combine_in_loop(struct emit *e, const struct ir_inst *inst, enum ir_kind kind, rval address, rval v)
{
    enum ir_kind bits = bits_kind(kind);
    rval first[2] = {address, order_of(e, IR_ORDER_RELAXED)};
    lval old = jit_keep(e, jit_cast(e, atomic_call(e, "load", bits, 2, first), jit_type(e, bits)));
    gcc_jit_block *try = jit_block(e), *done = jit_block(e);
    jit_jump(e, try);
    jit_begin(e, try);
    rval desired = combined(e, inst, kind, old, v);
    jit_branch(e, compare_exchange(e, inst, bits, address, old, desired, IR_ORDER_RELAXED), done, try);
    jit_begin(e, done);
    return jit_bits(e, jit_read(old), jit_type(e, kind));
}

/* ---- where no other thread is ---- */

static bool is_of_one_thread(const struct ir_inst *inst)
{
    enum ir_space space = ir_type_space(inst->operands[0]->type);
    return space == IR_SPACE_LOCAL || space == IR_SPACE_PRIVATE;
}

/* What memory holds after an operation that found `old` there, as bits. */
static rval held_after(struct emit *e, const struct ir_inst *inst, enum ir_kind kind, lval old, rval v, rval second)
{
    enum ir_kind bits = bits_kind(kind);
    gcc_jit_type *as = jit_type(e, bits);
    switch (inst->op) {
    case IR_OP_ATOMIC_STORE:
    case IR_OP_ATOMIC_XCHG: return jit_bits(e, v, as);
    case IR_OP_ATOMIC_CLEAR: return jit_int(e, bits, 0);
    case IR_OP_ATOMIC_TEST_SET: return jit_int(e, bits, 1);
    case IR_OP_ATOMIC_CMPXCHG: {
        rval same = jit_compare(e, GCC_JIT_COMPARISON_EQ, jit_read(old), jit_bits(e, v, as));
        return jit_select(e, same, jit_bits(e, second, as), jit_read(old));
    }
    default: return combined(e, inst, kind, old, v);
    }
}

/* One lane, in memory that no other thread reaches. */
static rval one_lane_alone(struct emit *e, const struct ir_inst *inst, enum ir_kind kind, rval address, rval v,
                           rval second)
{
    enum ir_kind bits = bits_kind(kind);
    address = jit_read(jit_keep(e, address));
    lval at = jit_memory(e, jit_type(e, bits), address, kind_bytes(kind)), old = jit_keep(e, jit_read(at));
    if (inst->op != IR_OP_ATOMIC_LOAD) jit_set(e, at, held_after(e, inst, kind, old, v, second));
    if (inst->op == IR_OP_ATOMIC_TEST_SET)
        return jit_compare(e, GCC_JIT_COMPARISON_NE, jit_read(old), jit_int(e, bits, 0));
    return jit_bits(e, jit_read(old), jit_type(e, kind));
}

/* ---- one lane ---- */

/* The result or NULL. */
static rval one_lane_shared(struct emit *e, const struct ir_inst *inst, enum ir_kind kind, rval address, rval v,
                            rval second)
{
    enum ir_kind bits = bits_kind(kind);
    gcc_jit_type *type = jit_type(e, kind), *as = jit_type(e, bits);
    rval args[3] = {address, v ? jit_bits(e, v, as) : NULL, order_of(e, inst->attrs.order)};
    const char *fetch = fetch_name(inst->op);
    if (fetch) return jit_bits(e, jit_cast(e, atomic_call(e, fetch, bits, 3, args), as), type);
    switch (inst->op) {
    case IR_OP_ATOMIC_LOAD:
        args[1] = args[2];
        return jit_bits(e, jit_cast(e, atomic_call(e, "load", bits, 2, args), as), type);
    case IR_OP_ATOMIC_STORE:
        gcc_jit_block_add_eval(e->block, NULL, atomic_call(e, "store", bits, 3, args));
        return NULL;
    case IR_OP_ATOMIC_CMPXCHG: {
        lval expected = jit_keep(e, v);
        compare_exchange(e, inst, bits, address, expected, second, inst->attrs.order_fail);
        return jit_read(expected);
    }
    case IR_OP_ATOMIC_TEST_SET:
        args[1] = jit_int(e, bits, 1);
        return jit_compare(e, GCC_JIT_COMPARISON_NE, jit_cast(e, atomic_call(e, "exchange", bits, 3, args), as),
                           jit_int(e, bits, 0));
    case IR_OP_ATOMIC_CLEAR:
        args[1] = jit_int(e, bits, 0);
        gcc_jit_block_add_eval(e->block, NULL, atomic_call(e, "store", bits, 3, args));
        return NULL;
    default: return combine_in_loop(e, inst, kind, address, v);
    }
}

static rval one_lane(struct emit *e, const struct ir_inst *inst, enum ir_kind kind, rval address, rval v, rval second)
{
    if (is_of_one_thread(inst)) return one_lane_alone(e, inst, kind, address, v, second);
    return one_lane_shared(e, inst, kind, address, v, second);
}

static enum ir_kind number_kind(const struct ir_inst *inst)
{
    bool flag = inst->op == IR_OP_ATOMIC_TEST_SET || inst->op == IR_OP_ATOMIC_CLEAR;
    return flag ? IR_KIND_I32 : ir_type_kind(inst->type);
}

static void emit_fence(struct emit *e, const struct ir_inst *inst)
{
    rval o = order_of(e, inst->attrs.order);
    gcc_jit_block_add_eval(e->block, NULL, jit_builtin(e, "__atomic_thread_fence", 1, &o));
}

/* ---- all lanes ---- */

/* What all lanes' operations take and give. */
struct lane_operations {
    const struct ir_inst *inst;
    enum ir_kind kind, stored; /* of numbers; of results in memory */
    struct lanes *operands[3];
    lval spilled[3], out;
    bool again; /* the address is computed again for each lane */
};

static rval operand_of_lane(struct emit *e, const struct lane_operations *l, uint32_t i, rval lane)
{
    if (i == 0 && l->again) return jit_read(jit_keep(e, again_of_lane(e, l->inst->operands[0], lane).scalar));
    return l->spilled[i] ? jit_read(jit_keep(e, spilled_lane(e, l->spilled[i], lane))) : l->operands[i]->scalar;
}

/* In which copy of a counter, where there are some. */
static void run_lane(struct emit *e, const struct lane_operations *l, rval lane, unsigned copy)
{
    rval in[3] = {NULL};
    for (uint32_t i = 0; i < l->inst->n_operands; i++) in[i] = operand_of_lane(e, l, i, lane);
    uint64_t apart = copy % BIN_COPIES * (uint64_t)l->inst->attrs.index;
    if (apart) in[0] = jit_add(e, in[0], jit_u64(e, apart));
    rval r = one_lane(e, l->inst, l->kind, in[0], in[1], in[2]);
    if (l->inst->n_results)
        jit_set(e, gcc_jit_context_new_array_access(e->gcc, NULL, jit_read(l->out), lane),
                jit_cast(e, r, jit_type(e, l->stored)));
}

enum { AT_ONCE = 4 };

/* All of them: some in each round of the loop. */
static void run_all_lanes(struct emit *e, const struct lane_operations *l)
{
    unsigned step = e->width % AT_ONCE ? 1 : AT_ONCE;
    struct counted first = counted_begin(e, jit_u64(e, 0), jit_u64(e, e->width), jit_u64(e, step));
    for (unsigned i = 0; i < step; i++)
        run_lane(e, l, jit_read(jit_keep(e, jit_add(e, jit_read(first.v), jit_u64(e, i)))), i);
    counted_end(e, &first);
}

static void run_some_lanes(struct emit *e, const struct lane_operations *l)
{
    struct lane_loop loop;
    lane_loop_begin(e, &loop);
    run_lane(e, l, loop.lane, 0);
    lane_loop_end(e, &loop);
}

/* ---- all lanes in the same place ---- */

/* What lanes' numbers are combined with before they come to memory; false: not in any order. */
static bool group_op_of(enum ir_op op, enum ir_group_op *group_op)
{
    switch (op) {
    case IR_OP_ATOMIC_ADD:
    case IR_OP_ATOMIC_SUB: *group_op = IR_GROUP_ADD; return true;
    case IR_OP_ATOMIC_AND: *group_op = IR_GROUP_AND; return true;
    case IR_OP_ATOMIC_OR: *group_op = IR_GROUP_OR; return true;
    case IR_OP_ATOMIC_XOR: *group_op = IR_GROUP_XOR; return true;
    case IR_OP_ATOMIC_SMIN: *group_op = IR_GROUP_SMIN; return true;
    case IR_OP_ATOMIC_UMIN: *group_op = IR_GROUP_UMIN; return true;
    case IR_OP_ATOMIC_SMAX: *group_op = IR_GROUP_SMAX; return true;
    case IR_OP_ATOMIC_UMAX: *group_op = IR_GROUP_UMAX; return true;
    default: return false;
    }
}

struct use {
    const struct ir_value *of;
    bool found;
};

static void see_use(struct ir_inst *inst, void *data)
{
    struct use *use = data;
    for (uint32_t i = 0; i < inst->n_operands; i++) use->found = use->found || inst->operands[i] == use->of;
}

static bool is_used(const struct emit *e, const struct ir_value *v)
{
    struct use use = {v, false};
    ir_walk(e->kernel->body, see_use, &use);
    return use.found;
}

/* Lanes that all change the same number, and do not ask for what it was, change it once together: others wait for it
   no longer than that. */
static bool run_together(struct emit *e, const struct lane_operations *l)
{
    enum ir_group_op group_op;
    if (l->operands[0]->shape != SHAPE_UNIFORM || !ir_type_is_int(l->inst->type)) return false;
    if (!group_op_of(l->inst->op, &group_op) || is_used(e, l->inst->results[0])) return false;
    struct ir_inst reduction = *l->inst;
    reduction.op = IR_OP_GROUP_REDUCE;
    reduction.attrs.group_op = group_op;
    gcc_jit_block *some = jit_block(e), *done = jit_block(e);
    if (e->exec.chunk)
        jit_branch(e, mask_any(e, e->exec), some, done);
    else
        jit_jump(e, some);
    jit_begin(e, some);
    struct lanes all = reduction_of_lanes(e, &reduction, *l->operands[1]);
    rval before = one_lane(e, l->inst, l->kind, l->operands[0]->scalar, all.scalar, NULL);
    jit_keep(e, before);
    jit_jump(e, done);
    jit_begin(e, done);
    return true;
}

void emit_atomic(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    if (inst->op == IR_OP_FENCE) {
        emit_fence(e, inst);
        return;
    }
    enum ir_kind kind = number_kind(inst), result_kind = result ? ir_type_kind(inst->results[0]->type) : kind;
    struct lane_operations l = {.inst = inst, .kind = kind};
    for (uint32_t i = 0; i < inst->n_operands; i++) l.operands[i] = emit_value(e, inst->operands[i]);
    if (e->width == 1) {
        rval r = one_lane(e, inst, kind, l.operands[0]->scalar, inst->n_operands > 1 ? l.operands[1]->scalar : NULL,
                          inst->n_operands > 2 ? l.operands[2]->scalar : NULL);
        if (result) *result = lanes_uniform(result_kind, jit_read(jit_keep(e, r)));
        return;
    }
    if (run_together(e, &l)) {
        *result = lanes_int(e, result_kind, 0); /* nobody asks for it */
        return;
    }
    l.again = l.operands[0]->shape == SHAPE_VARYING && again_can(e, inst->operands[0]);
    for (uint32_t i = l.again; i < inst->n_operands; i++)
        if (l.operands[i]->shape != SHAPE_UNIFORM) l.spilled[i] = spill_lanes(e, l.operands[i]);
    l.stored = result_kind == IR_KIND_BOOL ? IR_KIND_I8 : result_kind;
    l.out = lane_array(e, l.stored, 1);
    if (!e->exec.chunk && fetch_name(inst->op))
        run_all_lanes(e, &l);
    else
        run_some_lanes(e, &l);
    if (!result) return;
    *result = unspill_lanes(e, l.stored, l.out);
    if (result_kind == IR_KIND_BOOL) *result = op2(e, IR_OP_INE, IR_KIND_BOOL, *result, lanes_int(e, IR_KIND_I8, 0));
}
