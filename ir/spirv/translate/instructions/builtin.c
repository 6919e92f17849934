/* Built-in variables: loads of them, or of their components, are operations. */
#include "ir/spirv/translate/instructions/builtin.h"

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/globals.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/instructions/lanes.h"
#include "ir/spirv/translate/values/values.h"

enum sort { VECTOR /* of three dimensions */, SCALAR, MASK /* of a sub-group, computed */ };

struct builtin {
    uint16_t number, op;
    enum sort sort;
};

static const struct builtin builtins[] = {
    {SpvBuiltInNumWorkgroups, IR_OP_NUM_GROUPS, VECTOR},
    {SpvBuiltInWorkgroupSize, IR_OP_LOCAL_SIZE, VECTOR},
    {SpvBuiltInWorkgroupId, IR_OP_GROUP_ID, VECTOR},
    {SpvBuiltInLocalInvocationId, IR_OP_LOCAL_ID, VECTOR},
    {SpvBuiltInGlobalInvocationId, IR_OP_GLOBAL_ID, VECTOR},
    {SpvBuiltInLocalInvocationIndex, IR_OP_LOCAL_LINEAR_ID, SCALAR},
    {SpvBuiltInWorkDim, IR_OP_WORK_DIM, SCALAR},
    {SpvBuiltInGlobalSize, IR_OP_GLOBAL_SIZE, VECTOR},
    {SpvBuiltInEnqueuedWorkgroupSize, IR_OP_ENQUEUED_LOCAL_SIZE, VECTOR},
    {SpvBuiltInGlobalOffset, IR_OP_GLOBAL_OFFSET, VECTOR},
    {SpvBuiltInGlobalLinearId, IR_OP_GLOBAL_LINEAR_ID, SCALAR},
    {SpvBuiltInSubgroupSize, IR_OP_SUB_GROUP_SIZE, SCALAR},
    {SpvBuiltInSubgroupMaxSize, IR_OP_SUB_GROUP_MAX_SIZE, SCALAR},
    {SpvBuiltInNumSubgroups, IR_OP_NUM_SUB_GROUPS, SCALAR},
    {SpvBuiltInNumEnqueuedSubgroups, IR_OP_ENQUEUED_NUM_SUB_GROUPS, SCALAR},
    {SpvBuiltInSubgroupId, IR_OP_SUB_GROUP_ID, SCALAR},
    {SpvBuiltInSubgroupLocalInvocationId, IR_OP_SUB_GROUP_LOCAL_ID, SCALAR},
    {SpvBuiltInSubgroupEqMask, IR_OP_IEQ, MASK},
    {SpvBuiltInSubgroupGeMask, IR_OP_UGE, MASK},
    {SpvBuiltInSubgroupGtMask, IR_OP_UGT, MASK},
    {SpvBuiltInSubgroupLeMask, IR_OP_ULE, MASK},
    {SpvBuiltInSubgroupLtMask, IR_OP_ULT, MASK},
};

static const struct builtin *find_builtin(int number)
{
    for (size_t k = 0; k < sizeof builtins / sizeof *builtins; k++)
        if (builtins[k].number == number) return &builtins[k];
    return NULL;
}

/* The built-in variable behind a pointer: itself, or seen through casts and access chains to one component. */
static const struct builtin *builtin_behind(const struct spirv_body *s, uint32_t pointer, uint32_t *component)
{
    *component = 0;
    for (unsigned steps = 0; steps < 16; steps++) {
        const struct spirv_inst *d = spirv_def(s->r, pointer);
        if (!d) return NULL;
        switch (d->op) {
        case SpvOpVariable: return find_builtin(spirv_builtin(s->r, pointer));
        case SpvOpPtrCastToGeneric:
        case SpvOpBitcast:
        case SpvOpCopyObject: break;
        case SpvOpAccessChain:
        case SpvOpInBoundsAccessChain: /* base, component */
        case SpvOpPtrAccessChain:
        case SpvOpInBoundsPtrAccessChain: { /* base, element 0, component */
            uint32_t at = d->op == SpvOpAccessChain || d->op == SpvOpInBoundsAccessChain ? 4 : 5;
            if (*component || d->n > at + 1u) return NULL;
            if (d->n == at + 1u) *component = d->words[at];
            break;
        }
        default: return NULL;
        }
        pointer = d->words[3];
    }
    return NULL;
}

/* 128 bits, one for each work-item of the sub-group whose id compares to this one's as op says: the bits below one
   number without those below another. */
static struct ir_value *build_mask(struct spirv_body *s, enum ir_op op, ir_type t)
{
    struct ir_value *id = ir_build0(&s->b, IR_OP_SUB_GROUP_LOCAL_ID, IR_VOID), *words[4];
    struct ir_value *next = ir_build2(&s->b, IR_OP_ADD, IR_I32, id, spirv_int(s, IR_I32, 1));
    struct ir_value *all = ir_build0(&s->b, IR_OP_SUB_GROUP_MAX_SIZE, IR_VOID), *none = spirv_int(s, IR_I32, 0);
    struct ir_value *end = op == IR_OP_UGE || op == IR_OP_UGT ? all : op == IR_OP_ULT ? id : next;
    struct ir_value *start = op == IR_OP_UGT ? next : op == IR_OP_ULE || op == IR_OP_ULT ? none : id;
    for (unsigned w = 0; w < 4; w++)
        words[w] = ir_build2(&s->b, IR_OP_XOR, IR_I32, spirv_low_bits(s, end, w), spirv_low_bits(s, start, w));
    return ir_build(&s->b, IR_OP_VEC, t, words, 4)->results[0];
}

static struct ir_value *build_vector(struct spirv_body *s, enum ir_op op, ir_type t)
{
    struct ir_value *parts[3];
    for (unsigned k = 0; k < 3; k++) {
        struct ir_value *id = ir_build_id(&s->b, op, k);
        parts[k] = spirv_as_int(s, id, ir_type_element(t));
    }
    return ir_build(&s->b, IR_OP_VEC, t, parts, 3)->results[0];
}

/* One component of three, which need not be known; there are none beyond, where work-items have id 0 of a size of 1. */
static struct ir_value *component_at(struct spirv_body *s, enum ir_op op, struct ir_value *all, struct ir_value *index)
{
    ir_type t = ir_type_element(all->type);
    bool is_size =
        op == IR_OP_NUM_GROUPS || op == IR_OP_LOCAL_SIZE || op == IR_OP_GLOBAL_SIZE || op == IR_OP_ENQUEUED_LOCAL_SIZE;
    struct ir_value *is = ir_build2(&s->b, IR_OP_ULT, index->type, index, spirv_int(s, index->type, 3));
    struct ir_value *there = ir_build2(&s->b, IR_OP_EXTRACT, all->type, all, index);
    return ir_build3(&s->b, IR_OP_SELECT, t, is, there, spirv_int(s, t, is_size));
}

static struct ir_value *component_of(struct spirv_body *s, const struct spirv_inst *i, const struct builtin *b,
                                     uint32_t component, ir_type t)
{
    uint64_t n;
    struct ir_value *index = spirv_value(s, i, component);
    if (ir_value_uint(index, &n) && n < 3) return spirv_as_int(s, ir_build_id(&s->b, b->op, (unsigned)n), t);
    return component_at(s, b->op, build_vector(s, b->op, ir_type_with_lanes(t, 3)), index);
}

struct ir_value *spirv_builtin_at(struct spirv_body *s, uint32_t vector, struct ir_value *all, struct ir_value *index)
{
    uint32_t component;
    const struct spirv_inst *load = spirv_def(s->r, vector);
    const struct builtin *b = load && load->op == SpvOpLoad ? builtin_behind(s, load->words[3], &component) : NULL;
    return b && b->sort == VECTOR && !component ? component_at(s, b->op, all, index) : NULL;
}

/* Pointers derived from built-in variables have no value: their loads find the variable. */
static bool is_derived(const struct spirv_body *s, const struct spirv_inst *i)
{
    uint32_t component;
    switch (i->op) {
    case SpvOpPtrCastToGeneric:
    case SpvOpBitcast:
    case SpvOpCopyObject:
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpPtrAccessChain:
    case SpvOpInBoundsPtrAccessChain: return builtin_behind(s, i->id, &component) != NULL;
    default: return false;
    }
}

bool spirv_emit_builtin(struct spirv_body *s, const struct spirv_inst *i)
{
    if (is_derived(s, i)) return true;
    if (i->op != SpvOpLoad) return false;
    uint32_t component;
    const struct builtin *b = builtin_behind(s, i->words[3], &component);
    if (!b) {
        int number = spirv_builtin(s->r, i->words[3]);
        if (number >= 0) spirv_fail(s->r, i, "of built-in variable %d, which kernels have not", number);
        return number >= 0;
    }
    ir_type t = spirv_result_type(s->r, i);
    unsigned lanes = b->sort == VECTOR ? 3 : b->sort == MASK ? 4 : 1;
    if (!ir_type_is_int(t) || ir_type_lanes(t) != (component ? 1 : lanes) || (component && b->sort != VECTOR)) {
        spirv_fail(s->r, i, "of a built-in variable, as another type than its own");
    } else if (component) {
        spirv_set(s, i, component_of(s, i, b, component, t));
    } else if (b->sort == VECTOR) {
        spirv_set(s, i, build_vector(s, b->op, t));
    } else if (b->sort == MASK) {
        spirv_set(s, i, build_mask(s, b->op, t));
    } else {
        spirv_set(s, i, spirv_as_int(s, ir_build0(&s->b, b->op, IR_VOID), t));
    }
    return true;
}
