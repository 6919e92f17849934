/*
 * Atomic operations. What a device does not have of floats goes round until a comparison of their bits with what was
 * there succeeds. In Vulkan all others are of integers, too; a work-item's own memory has no atomics there and needs
 * none; a generic pointer goes one of three ways.
 */
#include "fuser/spirv/memory/atomic.h"

#include <spirv/unified1/spirv.h>

#include "fuser/spirv/base/bits.h"
#include "fuser/spirv/base/branch.h"
#include "fuser/spirv/base/scope.h"
#include "fuser/spirv/memory/kernel_memory.h"
#include "fuser/spirv/memory/memory.h"
#include "fuser/spirv/memory/vulkan_memory.h"
#include "fuser/spirv/numbers/operation.h"

typedef struct formula_value value;

/* What is done: to integers as SPIR-V names it, and what it computes. */
static const struct update {
    uint16_t opcode, computes;
} updates[IR_OP_COUNT] = {
    [IR_OP_ATOMIC_XCHG] = {SpvOpAtomicExchange, 0},         [IR_OP_ATOMIC_ADD] = {SpvOpAtomicIAdd, IR_OP_ADD},
    [IR_OP_ATOMIC_SUB] = {SpvOpAtomicISub, IR_OP_SUB},      [IR_OP_ATOMIC_SMIN] = {SpvOpAtomicSMin, IR_OP_SMIN},
    [IR_OP_ATOMIC_UMIN] = {SpvOpAtomicUMin, IR_OP_UMIN},    [IR_OP_ATOMIC_SMAX] = {SpvOpAtomicSMax, IR_OP_SMAX},
    [IR_OP_ATOMIC_UMAX] = {SpvOpAtomicUMax, IR_OP_UMAX},    [IR_OP_ATOMIC_AND] = {SpvOpAtomicAnd, IR_OP_AND},
    [IR_OP_ATOMIC_OR] = {SpvOpAtomicOr, IR_OP_OR},          [IR_OP_ATOMIC_XOR] = {SpvOpAtomicXor, IR_OP_XOR},
    [IR_OP_ATOMIC_FADD] = {SpvOpAtomicFAddEXT, IR_OP_FADD}, [IR_OP_ATOMIC_FMIN] = {SpvOpAtomicFMinEXT, IR_OP_FMIN},
    [IR_OP_ATOMIC_FMAX] = {SpvOpAtomicFMaxEXT, IR_OP_FMAX},
};

/* One atomic operation on its way. */
struct atomic {
    const struct ir_inst *inst;
    enum ir_op op;
    enum ir_kind kind;   /* of the number */
    enum ir_space space; /* never generic where it is written */
    uint32_t pointer;    /* as the dialect has it */
    uint32_t operands[2];
};

static uint32_t type_of(struct spw *w, const struct atomic *a)
{
    return spw_number_type(w, a->kind, 1);
}

static bool is_float(const struct atomic *a)
{
    return ir_type_is_float(IR_TYPE(a->kind, 1, 0));
}

static unsigned fence_of(const struct atomic *a)
{
    return a->space == IR_SPACE_LOCAL     ? IR_FENCE_LOCAL
           : a->space == IR_SPACE_GENERIC ? IR_FENCE_LOCAL | IR_FENCE_GLOBAL
                                          : IR_FENCE_GLOBAL;
}

/* Without fences that work-items may come to alone there is no order but that of what reads and writes at once, which
   processors keep. */
static bool is_ordered_itself(const struct spw *w)
{
    return w->vulkan && !(w->target->features & SPIRV_LONE_FENCES);
}

/* Reads do not release and writes do not acquire. */
static enum ir_order order_of(const struct spw *w, const struct atomic *a)
{
    enum ir_order order = is_ordered_itself(w) ? IR_ORDER_RELAXED : a->inst->attrs.order;
    bool both = order == IR_ORDER_ACQ_REL || (w->vulkan && order == IR_ORDER_SEQ_CST);
    if (a->op == IR_OP_ATOMIC_LOAD)
        return both ? IR_ORDER_ACQUIRE : order == IR_ORDER_RELEASE ? IR_ORDER_RELAXED : order;
    if (a->op == IR_OP_ATOMIC_STORE || a->op == IR_OP_ATOMIC_CLEAR)
        return both ? IR_ORDER_RELEASE : order == IR_ORDER_ACQUIRE ? IR_ORDER_RELAXED : order;
    return order;
}

static uint32_t semantics_of(struct spw *w, const struct atomic *a)
{
    return spw_semantics(w, order_of(w, a), fence_of(a));
}

/* ---- one instruction ---- */

static uint32_t exchange_if(struct spw *w, const struct atomic *a, uint32_t place, uint32_t type, uint32_t expected,
                            uint32_t x)
{
    enum ir_order fail = a->op == IR_OP_ATOMIC_CMPXCHG ? a->inst->attrs.order_fail : IR_ORDER_RELAXED;
    if (is_ordered_itself(w)) fail = IR_ORDER_RELAXED;
    if (w->vulkan && fail == IR_ORDER_SEQ_CST) fail = IR_ORDER_ACQUIRE;
    return SPW_EMIT(w, SpvOpAtomicCompareExchange, type, place, spw_scope(w, a->inst->attrs.scope), semantics_of(w, a),
                    spw_semantics(w, fail, fence_of(a)), x, expected);
}

static uint32_t one_update(struct spw *w, const struct atomic *a, uint32_t place, uint32_t type, const uint32_t *x)
{
    uint32_t scope = spw_scope(w, a->inst->attrs.scope), semantics = semantics_of(w, a);
    bool at_once = is_ordered_itself(w) && a->inst->attrs.order != IR_ORDER_RELAXED;
    if (at_once && a->op == IR_OP_ATOMIC_LOAD)
        return SPW_EMIT(w, SpvOpAtomicOr, type, place, scope, semantics,
                        spw_const_number(&w->m, spw_int_kind(a->kind), 1, 0));
    if (at_once && a->op == IR_OP_ATOMIC_STORE)
        return SPW_EMIT(w, SpvOpAtomicExchange, type, place, scope, semantics, x[0]);
    switch (a->op) {
    case IR_OP_ATOMIC_LOAD: return SPW_EMIT(w, SpvOpAtomicLoad, type, place, scope, semantics);
    case IR_OP_ATOMIC_STORE: SPW_DO(w, SpvOpAtomicStore, place, scope, semantics, x[0]); return 0;
    case IR_OP_ATOMIC_CMPXCHG: return exchange_if(w, a, place, type, x[0], x[1]);
    default: return SPW_EMIT(w, updates[a->op].opcode, type, place, scope, semantics, x[0]);
    }
}

/* ---- floats ---- */

static value computed(struct spw *w, const struct atomic *a, uint32_t old, uint32_t x)
{
    enum ir_op op = updates[a->op].computes;
    w->lanes = 1;
    if (!op) return (value){a->kind, x, NULL};
    return spw_compute(&w->formula, op, a->kind, 2, (value[]){{a->kind, old, NULL}, {a->kind, x, NULL}});
}

/* Does the device have this update of floats? Files for whoever compiles them say what is wanted, and no more. In
   Vulkan sums are what is asked for, in global memory. */
static bool has_instruction(const struct spw *w, const struct atomic *a)
{
    static const uint64_t sums[] = {0, SPIRV_ATOMIC_FADD32, SPIRV_ATOMIC_FADD64};
    static const uint64_t extremes[] = {0, SPIRV_ATOMIC_FMINMAX32, SPIRV_ATOMIC_FMINMAX64};
    bool sum = a->op == IR_OP_ATOMIC_FADD;
    if (!w->vulkan && !(w->target->features & SPIRV_LAUNCH_BLOCK)) return true;
    if (w->vulkan && !(sum && a->space == IR_SPACE_GLOBAL)) return false;
    return w->target->features & (sum ? sums : extremes)[a->kind - IR_KIND_F16];
}

static bool is_float_update(const struct atomic *a)
{
    return is_float(a) && updates[a->op].computes;
}

/* Again and again, until nobody else came between reading and writing. */
static uint32_t by_comparison(struct spw *w, const struct atomic *a, uint32_t place, enum ir_kind bits)
{
    uint32_t type = type_of(w, a), whole = spw_number_type(w, bits, 1), truth = spw_type_bool(&w->m, 1);
    struct spw_retry r = spw_retry_begin(w);
    uint32_t relaxed = spw_const_u32(&w->m, 0);
    uint32_t seen = SPW_EMIT(w, SpvOpAtomicLoad, whole, place, spw_scope(w, a->inst->attrs.scope), relaxed);
    uint32_t old = spw_bitcast(w, type, bits, a->kind, seen);
    uint32_t new = spw_bitcast(w, whole, a->kind, bits, (uint32_t)computed(w, a, old, a->operands[0]).bits);
    uint32_t found = exchange_if(w, a, place, whole, seen, new);
    spw_retry_until(w, &r, SPW_EMIT(w, SpvOpIEqual, truth, found, seen));
    return old;
}

static bool check_width(struct spw *w, const struct atomic *a)
{
    bool local = a->space == IR_SPACE_LOCAL;
    if (spw_bits(a->kind) < 32) {
        spw_fail(w, "of %u bits cannot be written", spw_bits(a->kind));
        return false;
    }
    if (spw_bits(a->kind) < 64) return true;
    spw_capability(&w->m, SpvCapabilityInt64Atomics);
    return spw_need(w, local ? SPIRV_ATOMIC64_LOCAL : SPIRV_ATOMIC64_GLOBAL,
                    local ? "atomics of 64 bits in local memory" : "atomics of 64 bits");
}

static void ask_for_floats(struct spw *w, const struct atomic *a)
{
    static const uint32_t sums[] = {SpvCapabilityAtomicFloat16AddEXT, SpvCapabilityAtomicFloat32AddEXT,
                                    SpvCapabilityAtomicFloat64AddEXT};
    static const uint32_t extremes[] = {SpvCapabilityAtomicFloat16MinMaxEXT, SpvCapabilityAtomicFloat32MinMaxEXT,
                                        SpvCapabilityAtomicFloat64MinMaxEXT};
    unsigned width = spw_bits(a->kind) / 32; /* 0, 1, 2 */
    if (a->op == IR_OP_ATOMIC_FADD) {
        spw_capability(&w->m, sums[width]);
        spw_extension(&w->m, width ? "SPV_EXT_shader_atomic_float_add" : "SPV_EXT_shader_atomic_float16_add");
    } else if (a->op == IR_OP_ATOMIC_FMIN || a->op == IR_OP_ATOMIC_FMAX) {
        spw_capability(&w->m, extremes[width]);
        spw_extension(&w->m, "SPV_EXT_shader_atomic_float_min_max");
    }
}

/* ---- the kernel dialect ---- */

static uint32_t kernel_flag(struct spw *w, const struct atomic *a)
{
    uint32_t place = spw_kernel_pointer(w, spw_type_int(&w->m, 32, 1), a->space, a->pointer);
    uint32_t scope = spw_scope(w, a->inst->attrs.scope), semantics = semantics_of(w, a);
    if (a->op == IR_OP_ATOMIC_TEST_SET)
        return SPW_EMIT(w, SpvOpAtomicFlagTestAndSet, spw_type_bool(&w->m, 1), place, scope, semantics);
    SPW_DO(w, SpvOpAtomicFlagClear, place, scope, semantics);
    return 0;
}

static uint32_t kernel_atomic(struct spw *w, const struct atomic *a)
{
    if (a->op == IR_OP_ATOMIC_TEST_SET || a->op == IR_OP_ATOMIC_CLEAR) return kernel_flag(w, a);
    uint32_t type = type_of(w, a);
    if (is_float_update(a) && !has_instruction(w, a)) {
        enum ir_kind bits = spw_int_kind(a->kind);
        if (!check_width(w, a)) return spw_const_null(&w->m, type);
        uint32_t words = spw_number_type(w, bits, 1);
        return by_comparison(w, a, spw_kernel_pointer(w, words, a->space, a->pointer), bits);
    }
    if (spw_bits(a->kind) == 64 && !is_float(a)) spw_capability(&w->m, SpvCapabilityInt64Atomics);
    ask_for_floats(w, a);
    return one_update(w, a, spw_kernel_pointer(w, type, a->space, a->pointer), type, a->operands);
}

/* ---- Vulkan ---- */

/* A work-item's own memory. */
static uint32_t private_atomic(struct spw *w, const struct atomic *a)
{
    ir_type t = IR_TYPE(a->kind, 1, 0);
    uint32_t old[1], new[1] = {a->operands[0]}, align = spw_bits(a->kind) / 8;
    if (a->op != IR_OP_ATOMIC_STORE) spw_load(w, t, IR_SPACE_PRIVATE, a->pointer, align, false, old);
    if (a->op == IR_OP_ATOMIC_LOAD) return old[0];
    if (a->op == IR_OP_ATOMIC_CMPXCHG) {
        uint32_t same = SPW_EMIT(w, SpvOpIEqual, spw_type_bool(&w->m, 1), old[0], a->operands[0]);
        new[0] = SPW_EMIT(w, SpvOpSelect, type_of(w, a), same, a->operands[1], old[0]);
    } else if (a->op != IR_OP_ATOMIC_STORE) {
        new[0] = (uint32_t)computed(w, a, old[0], a->operands[0]).bits;
    }
    spw_store(w, t, IR_SPACE_PRIVATE, a->pointer, align, false, new);
    return old[0];
}

static uint32_t shared_atomic(struct spw *w, const struct atomic *a)
{
    if (!check_width(w, a)) return spw_const_null(&w->m, type_of(w, a));
    bool updates_float = is_float_update(a), native = updates_float && has_instruction(w, a);
    enum ir_kind bits = native ? a->kind : spw_int_kind(a->kind);
    uint32_t place = spw_place(w, bits, a->space, a->pointer), type = type_of(w, a);
    if (native) {
        ask_for_floats(w, a);
        return one_update(w, a, place, type, a->operands);
    }
    if (updates_float) return by_comparison(w, a, place, bits);
    uint32_t whole = spw_number_type(w, bits, 1), x[2];
    for (unsigned i = 0; i < 2; i++) x[i] = a->operands[i] ? spw_bitcast(w, whole, a->kind, bits, a->operands[i]) : 0;
    uint32_t r = one_update(w, a, place, whole, x);
    return r ? spw_bitcast(w, type, bits, a->kind, r) : 0;
}

static uint32_t in_space(struct spw *w, const struct atomic *a, enum ir_space space)
{
    struct atomic here = *a;
    here.space = space;
    if (a->space == IR_SPACE_GENERIC && space != IR_SPACE_GLOBAL)
        here.pointer = SPW_EMIT(w, SpvOpUConvert, spw_type_int(&w->m, 32, 1), a->pointer);
    return space == IR_SPACE_PRIVATE ? private_atomic(w, &here) : shared_atomic(w, &here);
}

static uint32_t generic_atomic(struct spw *w, const struct atomic *a)
{
    static const enum ir_space spaces[] = {IR_SPACE_LOCAL, IR_SPACE_PRIVATE};
    uint32_t type = a->op == IR_OP_ATOMIC_STORE ? 0 : type_of(w, a);
    struct spw_if ways[2];
    for (unsigned i = 0; i < 2; i++) {
        ways[i] = spw_if_begin(w, spw_generic_is(w, a->pointer, spaces[i]));
        spw_if_else(w, &ways[i], in_space(w, a, spaces[i]));
    }
    uint32_t r = in_space(w, a, IR_SPACE_GLOBAL);
    return spw_if_end(w, &ways[0], type, spw_if_end(w, &ways[1], type, r));
}

/* Flags are integers that are exchanged. */
static uint32_t vulkan_atomic(struct spw *w, struct atomic *a)
{
    bool test = a->op == IR_OP_ATOMIC_TEST_SET;
    if (test || a->op == IR_OP_ATOMIC_CLEAR) {
        a->op = test ? IR_OP_ATOMIC_XCHG : IR_OP_ATOMIC_STORE;
        a->operands[0] = spw_const_u32(&w->m, test);
    }
    uint32_t r = a->space == IR_SPACE_GENERIC ? generic_atomic(w, a) : in_space(w, a, a->space);
    if (!test) return r;
    return SPW_EMIT(w, SpvOpINotEqual, spw_type_bool(&w->m, 1), r, spw_const_u32(&w->m, 0));
}

void spw_atomic(struct spw *w, const struct ir_inst *inst)
{
    bool flag = inst->op == IR_OP_ATOMIC_TEST_SET || inst->op == IR_OP_ATOMIC_CLEAR;
    struct atomic a = {.inst = inst,
                       .op = inst->op,
                       .kind = flag ? IR_KIND_I32 : ir_type_kind(inst->type),
                       .space = ir_type_space(inst->operands[0]->type),
                       .pointer = spw_value1(w, inst->operands[0])};
    for (uint32_t i = 1; i < inst->n_operands; i++) a.operands[i - 1] = spw_value1(w, inst->operands[i]);
    uint32_t r = w->vulkan ? vulkan_atomic(w, &a) : kernel_atomic(w, &a);
    if (inst->n_results) spw_set1(w, inst->results[0], r);
}
