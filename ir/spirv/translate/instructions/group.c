/* Barriers, fences, and operations of work-groups and sub-groups. */
#include "ir/spirv/translate/instructions/group.h"

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/instructions/lanes.h"
#include "ir/spirv/translate/instructions/reduction.h"
#include "ir/spirv/translate/instructions/scope.h"
#include "ir/spirv/translate/values/values.h"

static ir_type result_type(const struct spirv_body *s, const struct spirv_inst *i)
{
    return spirv_result_type(s->r, i);
}

/* ---- barriers ---- */

static void emit_barrier(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_inst *inst = ir_build(&s->b, IR_OP_BARRIER, IR_VOID, NULL, 0);
    inst->attrs.scope = spirv_group_scope(s, i, i->words[1]);
    inst->attrs.fence = spirv_fence(s, i->words[3]);
}

static void emit_fence(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_inst *inst = ir_build(&s->b, IR_OP_FENCE, IR_VOID, NULL, 0);
    inst->attrs.scope = spirv_scope(s, i->words[1]);
    inst->attrs.order = spirv_order(s, i->words[2]);
    inst->attrs.fence = spirv_fence(s, i->words[2]);
}

/* ---- reductions and scans ---- */

static bool emit_reduction(struct spirv_body *s, const struct spirv_inst *i)
{
    static const enum ir_op ops[] = {IR_OP_GROUP_REDUCE, IR_OP_GROUP_SCAN_INCL, IR_OP_GROUP_SCAN_EXCL};
    const struct reduction *e = reduction_find(i->op);
    if (!e || e->spirv != i->op) return false;
    enum ir_scope scope = spirv_group_scope(s, i, i->words[3]);
    struct ir_value *x = spirv_value(s, i, i->words[5]);
    if (i->words[4] > 2) spirv_fail(s->r, i, "has group operation %u, which cannot be read", i->words[4]);
    if (spirv_failed(s->r)) return true;
    bool logical = ir_type_is_bool(x->type);
    ir_type t = x->type, number = logical ? ir_type_with_lanes(IR_I32, ir_type_lanes(t)) : t;
    if (logical) x = ir_build1(&s->b, IR_OP_ZEXT, number, x);
    struct ir_inst *inst = ir_build(&s->b, ops[i->words[4]], number, &x, 1);
    inst->attrs.scope = scope;
    inst->attrs.group_op = e->op;
    struct ir_value *r = inst->results[0];
    if (logical) r = ir_build2(&s->b, IR_OP_INE, number, r, spirv_int(s, number, 0));
    spirv_set(s, i, r);
    return true;
}

/* ---- votes and broadcasts of whole groups ---- */

static void emit_vote(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op)
{
    struct ir_value *x = spirv_value(s, i, i->words[4]);
    struct ir_inst *inst = ir_build(&s->b, op, IR_VOID, &x, 1);
    inst->attrs.scope = spirv_group_scope(s, i, i->words[3]);
    spirv_set(s, i, inst->results[0]);
}

static void emit_broadcast(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *o[4] = {spirv_value(s, i, i->words[4])}, *id = spirv_value(s, i, i->words[5]);
    enum ir_scope scope = spirv_group_scope(s, i, i->words[3]);
    uint32_t n = ir_type_lanes(id->type);
    if (n > 3) spirv_fail(s->r, i, "has a local id of %u components", n);
    if (spirv_failed(s->r)) return;
    for (uint32_t k = 0; k < n; k++)
        o[1 + k] = n == 1 ? id : ir_build2(&s->b, IR_OP_EXTRACT, id->type, id, spirv_int(s, IR_I32, k));
    struct ir_inst *inst =
        ir_build(&s->b, IR_OP_GROUP_BROADCAST, o[0]->type, o, scope == IR_SCOPE_SUB_GROUP ? 2 : 1 + n);
    inst->attrs.scope = scope;
    spirv_set(s, i, inst->results[0]);
}

/* ---- Intel's ---- */

static struct ir_value *intel_operand(struct spirv_body *s, const struct spirv_inst *i, uint32_t k)
{
    return spirv_value(s, i, i->words[3 + k]);
}

static bool emit_intel(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpSubgroupShuffleINTEL:
        spirv_set(s, i, spirv_shuffle(s, IR_OP_SUB_GROUP_SHUFFLE, intel_operand(s, i, 0), intel_operand(s, i, 1)));
        return true;
    case SpvOpSubgroupShuffleXorINTEL:
        spirv_set(s, i, spirv_shuffle(s, IR_OP_SUB_GROUP_SHUFFLE_XOR, intel_operand(s, i, 0), intel_operand(s, i, 1)));
        return true;
    case SpvOpSubgroupShuffleUpINTEL:
        spirv_set(s, i,
                  spirv_shift(s, IR_OP_SUB_GROUP_SHUFFLE_UP, intel_operand(s, i, 0), intel_operand(s, i, 1),
                              intel_operand(s, i, 2)));
        return true;
    case SpvOpSubgroupShuffleDownINTEL:
        spirv_set(s, i,
                  spirv_shift(s, IR_OP_SUB_GROUP_SHUFFLE_DOWN, intel_operand(s, i, 0), intel_operand(s, i, 1),
                              intel_operand(s, i, 2)));
        return true;
    case SpvOpSubgroupBlockReadINTEL:
        spirv_set(s, i, ir_build1(&s->b, IR_OP_BLOCK_READ, result_type(s, i), intel_operand(s, i, 0)));
        return true;
    case SpvOpSubgroupBlockWriteINTEL: {
        struct ir_value *o[2] = {spirv_value(s, i, i->words[1]), spirv_value(s, i, i->words[2])};
        ir_build(&s->b, IR_OP_BLOCK_WRITE, o[1]->type, o, 2);
        return true;
    }
    case SpvOpSubgroupImageBlockReadINTEL:
        spirv_set(s, i,
                  ir_build2(&s->b, IR_OP_IMAGE_BLOCK_READ, result_type(s, i), intel_operand(s, i, 0),
                            intel_operand(s, i, 1)));
        return true;
    case SpvOpSubgroupImageBlockWriteINTEL: {
        struct ir_value *o[3] = {spirv_value(s, i, i->words[1]), spirv_value(s, i, i->words[2]),
                                 spirv_value(s, i, i->words[3])};
        ir_build(&s->b, IR_OP_IMAGE_BLOCK_WRITE, o[2]->type, o, 3);
        return true;
    }
    default: return false;
    }
}

/* ---- copies by a whole work-group ---- */

/* Each work-item takes the elements at its linear id, and so on by the work-group's size. The event means nothing:
   waiting for it is a barrier. */
static void emit_async_copy(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *to = spirv_value(s, i, i->words[4]), *from = spirv_value(s, i, i->words[5]);
    struct ir_value *n = spirv_as_int(s, spirv_value(s, i, i->words[6]), IR_I64);
    struct ir_value *stride = spirv_as_int(s, spirv_value(s, i, i->words[7]), IR_I64), *one;
    ir_type t = spirv_type(s->r, i, spirv_pointee(s->r, spirv_type_of(s->r, i->words[4])));
    if (spirv_failed(s->r)) return;
    struct ir_value *step = ir_build_id(&s->b, IR_OP_LOCAL_SIZE, 0);
    for (unsigned k = 1; k < 3; k++)
        step = ir_build2(&s->b, IR_OP_MUL, IR_I64, step, ir_build_id(&s->b, IR_OP_LOCAL_SIZE, k));
    struct ir_value *first = ir_build0(&s->b, IR_OP_LOCAL_LINEAR_ID, IR_VOID);
    struct ir_inst *loop = ir_build_loop(&s->b, &first, 1, NULL, 0);
    struct ir_builder b = ir_builder_at_end(loop->blocks[0]);
    b.loc = s->b.loc;
    struct ir_value *at = loop->blocks[0]->args[0];
    struct ir_inst *end = ir_build_if(&b, ir_build2(&b, IR_OP_UGE, IR_I64, at, n), NULL, 0);
    struct ir_builder inside = ir_builder_at_end(end->blocks[0]);
    ir_build(&inside, IR_OP_BREAK, IR_VOID, NULL, 0);
    inside = ir_builder_at_end(end->blocks[1]);
    ir_build(&inside, IR_OP_YIELD, IR_VOID, NULL, 0);
    bool to_local = ir_type_space(to->type) == IR_SPACE_LOCAL; /* the stride is that of the global side */
    struct ir_value *far = ir_build2(&b, IR_OP_MUL, IR_I64, at, stride);
    struct ir_value *target = ir_build2(&b, IR_OP_ELEM, t, to, to_local ? at : far);
    struct ir_value *source = ir_build2(&b, IR_OP_ELEM, t, from, to_local ? far : at);
    one = spirv_int(s, IR_I64, 1);
    ir_build3(&b, IR_OP_COPY, t, target, source, one);
    struct ir_value *next = ir_build2(&b, IR_OP_ADD, IR_I64, at, step);
    ir_build(&b, IR_OP_CONTINUE, IR_VOID, &next, 1);
    spirv_set(s, i, spirv_int(s, IR_I64, 0));
}

static void emit_wait(struct spirv_body *s)
{
    struct ir_inst *inst = ir_build(&s->b, IR_OP_BARRIER, IR_VOID, NULL, 0);
    inst->attrs.scope = IR_SCOPE_WORK_GROUP;
    inst->attrs.fence = IR_FENCE_LOCAL | IR_FENCE_GLOBAL;
}

bool spirv_emit_group(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpControlBarrier: emit_barrier(s, i); return true;
    case SpvOpMemoryBarrier: emit_fence(s, i); return true;
    case SpvOpGroupAll: emit_vote(s, i, IR_OP_GROUP_ALL); return true;
    case SpvOpGroupAny: emit_vote(s, i, IR_OP_GROUP_ANY); return true;
    case SpvOpGroupBroadcast: emit_broadcast(s, i); return true;
    case SpvOpGroupAsyncCopy: emit_async_copy(s, i); return true;
    case SpvOpGroupWaitEvents: emit_wait(s); return true;
    default: return emit_reduction(s, i) || emit_intel(s, i);
    }
}
