/* Barriers, fences, and operations of work-groups and sub-groups. */
#include "ir/spirv/body.h"

static enum ir_scope group_scope(struct spirv_body *s, const struct spirv_inst *i, uint32_t id)
{
    enum ir_scope scope = spirv_scope(s, id);
    if (scope != IR_SCOPE_WORK_GROUP && scope != IR_SCOPE_SUB_GROUP)
        spirv_fail(s->r, i, "has a scope of execution that is neither a work-group nor a sub-group");
    return scope;
}

static ir_type result_type(const struct spirv_body *s, const struct spirv_inst *i)
{
    return s->r->ids[i->type].type;
}

/* ---- barriers ---- */

static void emit_barrier(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_inst *inst = ir_build(&s->b, IR_OP_BARRIER, IR_VOID, NULL, 0);
    inst->attrs.scope = group_scope(s, i, i->words[1]);
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

struct reduction {
    uint16_t spirv, non_uniform;
    uint8_t op;
    bool logical;
};

static const struct reduction reductions[] = {
    {SpvOpGroupIAdd, SpvOpGroupNonUniformIAdd, IR_GROUP_ADD, false},
    {SpvOpGroupFAdd, SpvOpGroupNonUniformFAdd, IR_GROUP_ADD, false},
    {SpvOpGroupFMin, SpvOpGroupNonUniformFMin, IR_GROUP_SMIN, false},
    {SpvOpGroupUMin, SpvOpGroupNonUniformUMin, IR_GROUP_UMIN, false},
    {SpvOpGroupSMin, SpvOpGroupNonUniformSMin, IR_GROUP_SMIN, false},
    {SpvOpGroupFMax, SpvOpGroupNonUniformFMax, IR_GROUP_SMAX, false},
    {SpvOpGroupUMax, SpvOpGroupNonUniformUMax, IR_GROUP_UMAX, false},
    {SpvOpGroupSMax, SpvOpGroupNonUniformSMax, IR_GROUP_SMAX, false},
    {SpvOpGroupIMulKHR, SpvOpGroupNonUniformIMul, IR_GROUP_MUL, false},
    {SpvOpGroupFMulKHR, SpvOpGroupNonUniformFMul, IR_GROUP_MUL, false},
    {SpvOpGroupBitwiseAndKHR, SpvOpGroupNonUniformBitwiseAnd, IR_GROUP_AND, false},
    {SpvOpGroupBitwiseOrKHR, SpvOpGroupNonUniformBitwiseOr, IR_GROUP_OR, false},
    {SpvOpGroupBitwiseXorKHR, SpvOpGroupNonUniformBitwiseXor, IR_GROUP_XOR, false},
    {SpvOpGroupLogicalAndKHR, SpvOpGroupNonUniformLogicalAnd, IR_GROUP_AND, true},
    {SpvOpGroupLogicalOrKHR, SpvOpGroupNonUniformLogicalOr, IR_GROUP_OR, true},
    {SpvOpGroupLogicalXorKHR, SpvOpGroupNonUniformLogicalXor, IR_GROUP_XOR, true},
};

static bool emit_reduction(struct spirv_body *s, const struct spirv_inst *i)
{
    static const enum ir_op ops[] = {IR_OP_GROUP_REDUCE, IR_OP_GROUP_SCAN_INCL, IR_OP_GROUP_SCAN_EXCL};
    const struct reduction *e = NULL;
    for (size_t k = 0; k < sizeof reductions / sizeof *reductions; k++)
        if (reductions[k].spirv == i->op || reductions[k].non_uniform == i->op) e = &reductions[k];
    if (!e) return false;
    enum ir_scope scope = group_scope(s, i, i->words[3]);
    struct ir_value *x = spirv_value(s, i, i->words[5]);
    if (i->words[4] > 2) spirv_fail(s->r, i, "in clusters cannot be read");
    if (s->r->failed_function) return true;
    ir_type t = x->type, number = e->logical ? ir_type_with_lanes(IR_I32, ir_type_lanes(t)) : t;
    if (e->logical) x = ir_build1(&s->b, IR_OP_ZEXT, number, x);
    /* The identity of and must have all bits that are looked at: true is 1, so bit 0 alone is. */
    struct ir_inst *inst = ir_build(&s->b, ops[i->words[4]], number, &x, 1);
    inst->attrs.scope = scope;
    inst->attrs.group_op = e->op;
    struct ir_value *r = inst->results[0];
    if (e->logical) r = ir_build2(&s->b, IR_OP_INE, number, r, spirv_int(s, number, 0));
    spirv_set(s, i, r);
    return true;
}

/* ---- votes and broadcasts of whole groups ---- */

static void emit_vote(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op)
{
    struct ir_value *x = spirv_value(s, i, i->words[4]);
    struct ir_inst *inst = ir_build(&s->b, op, IR_VOID, &x, 1);
    inst->attrs.scope = group_scope(s, i, i->words[3]);
    spirv_set(s, i, inst->results[0]);
}

static void emit_broadcast(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *o[4] = {spirv_value(s, i, i->words[4])}, *id = spirv_value(s, i, i->words[5]);
    enum ir_scope scope = group_scope(s, i, i->words[3]);
    uint32_t n = ir_type_lanes(id->type);
    if (n > 3) spirv_fail(s->r, i, "has a local id of %u components", n);
    if (s->r->failed_function) return;
    for (uint32_t k = 0; k < n; k++)
        o[1 + k] = n == 1 ? id : ir_build2(&s->b, IR_OP_EXTRACT, id->type, id, spirv_int(s, IR_I32, k));
    struct ir_inst *inst =
        ir_build(&s->b, IR_OP_GROUP_BROADCAST, o[0]->type, o, scope == IR_SCOPE_SUB_GROUP ? 2 : 1 + n);
    inst->attrs.scope = scope;
    spirv_set(s, i, inst->results[0]);
}

/* ---- sub-groups: of the work-items that are there ---- */

static struct ir_value *ballot(struct spirv_body *s, struct ir_value *x)
{
    return ir_build1(&s->b, IR_OP_SUB_GROUP_BALLOT, IR_VOID, x);
}

static struct ir_value *word(struct spirv_body *s, struct ir_value *v, unsigned k)
{
    return ir_build2(&s->b, IR_OP_EXTRACT, v->type, v, spirv_int(s, IR_I32, k));
}

/* Whether a bit of a ballot is set. */
static struct ir_value *some(struct spirv_body *s, struct ir_value *b)
{
    struct ir_value *x = ir_build2(&s->b, IR_OP_OR, IR_I32, word(s, b, 0), word(s, b, 1));
    struct ir_value *y = ir_build2(&s->b, IR_OP_OR, IR_I32, word(s, b, 2), word(s, b, 3));
    return ir_build2(&s->b, IR_OP_INE, IR_I32, ir_build2(&s->b, IR_OP_OR, IR_I32, x, y), spirv_int(s, IR_I32, 0));
}

/* The number of a ballot's first (or last) bit. */
static struct ir_value *find_bit(struct spirv_body *s, struct ir_value *b, bool last)
{
    struct ir_value *r = spirv_int(s, IR_I32, 0);
    for (unsigned k = 0; k < 4; k++) {
        unsigned at = last ? k : 3 - k; /* the word that counts most comes last */
        struct ir_value *w = word(s, b, at);
        struct ir_value *place = ir_build1(&s->b, last ? IR_OP_CLZ : IR_OP_CTZ, IR_I32, w);
        if (last) place = ir_build2(&s->b, IR_OP_SUB, IR_I32, spirv_int(s, IR_I32, 31), place);
        place = ir_build2(&s->b, IR_OP_ADD, IR_I32, place, spirv_int(s, IR_I32, 32 * at));
        struct ir_value *is = ir_build2(&s->b, IR_OP_INE, IR_I32, w, spirv_int(s, IR_I32, 0));
        r = ir_build3(&s->b, IR_OP_SELECT, IR_I32, is, place, r);
    }
    return r;
}

/* The bit of a ballot for one work-item. */
static struct ir_value *bit(struct spirv_body *s, struct ir_value *b, struct ir_value *id)
{
    id = spirv_as_int(s, id, IR_I32);
    struct ir_value *at = ir_build2(&s->b, IR_OP_LSHR, IR_I32, id, spirv_int(s, IR_I32, 5));
    struct ir_value *w = ir_build2(&s->b, IR_OP_EXTRACT, b->type, b, at);
    struct ir_value *x = ir_build2(&s->b, IR_OP_LSHR, IR_I32, w, id);
    x = ir_build2(&s->b, IR_OP_AND, IR_I32, x, spirv_int(s, IR_I32, 1));
    return ir_build2(&s->b, IR_OP_INE, IR_I32, x, spirv_int(s, IR_I32, 0));
}

struct ir_value *spirv_low_bits(struct spirv_body *s, struct ir_value *n, unsigned k)
{
    struct ir_value *in_word = ir_build2(&s->b, IR_OP_USUB_SAT, IR_I32, n, spirv_int(s, IR_I32, 32 * k));
    in_word = ir_build2(&s->b, IR_OP_UMIN, IR_I32, in_word, spirv_int(s, IR_I32, 32));
    struct ir_value *one = spirv_int(s, IR_I64, 1), *wide = ir_build1(&s->b, IR_OP_ZEXT, IR_I64, in_word);
    struct ir_value *power = ir_build2(&s->b, IR_OP_SHL, IR_I64, one, wide);
    return ir_build1(&s->b, IR_OP_ITRUNC, IR_I32, ir_build2(&s->b, IR_OP_SUB, IR_I64, power, one));
}

/* All bits of a ballot that belong to work-items, or those up to this one (without it). */
static struct ir_value *count_bits(struct spirv_body *s, struct ir_value *b, uint32_t operation)
{
    struct ir_value *end = operation == SpvGroupOperationReduce ? ir_build0(&s->b, IR_OP_SUB_GROUP_MAX_SIZE, IR_VOID)
                                                                : ir_build0(&s->b, IR_OP_SUB_GROUP_LOCAL_ID, IR_VOID);
    if (operation == SpvGroupOperationInclusiveScan)
        end = ir_build2(&s->b, IR_OP_ADD, IR_I32, end, spirv_int(s, IR_I32, 1));
    struct ir_value *sum = spirv_int(s, IR_I32, 0);
    for (unsigned k = 0; k < 4; k++) {
        struct ir_value *bits = ir_build2(&s->b, IR_OP_AND, IR_I32, word(s, b, k), spirv_low_bits(s, end, k));
        sum = ir_build2(&s->b, IR_OP_ADD, IR_I32, sum, ir_build1(&s->b, IR_OP_POPCOUNT, IR_I32, bits));
    }
    return sum;
}

static struct ir_value *shuffle(struct spirv_body *s, enum ir_op op, struct ir_value *x, struct ir_value *id)
{
    return ir_build2(&s->b, op, x->type, x, spirv_as_int(s, id, IR_I32));
}

static struct ir_value *shift(struct spirv_body *s, enum ir_op op, struct ir_value *x, struct ir_value *y,
                              struct ir_value *delta)
{
    return ir_build3(&s->b, op, x->type, x, y, spirv_as_int(s, delta, IR_I32));
}

static struct ir_value *all_equal(struct spirv_body *s, struct ir_value *x)
{
    if (ir_type_is_bool(x->type)) x = ir_build1(&s->b, IR_OP_ZEXT, IR_I32, x);
    return ir_build1(&s->b, IR_OP_SUB_GROUP_ALL_EQUAL, x->type, x);
}

/* Words 4 and 5 of the instruction, past type, id and scope. */
static struct ir_value *operand(struct spirv_body *s, const struct spirv_inst *i, uint32_t k)
{
    return spirv_value(s, i, i->words[4 + k]);
}

static struct ir_value * not(struct spirv_body * s, struct ir_value *x)
{
    return ir_build1(&s->b, IR_OP_NOT, IR_BOOL, x);
}

static struct ir_value *non_uniform(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpGroupNonUniformElect: return ir_build0(&s->b, IR_OP_SUB_GROUP_ELECT, IR_VOID);
    case SpvOpGroupNonUniformAll: return not(s, some(s, ballot(s, not(s, operand(s, i, 0)))));
    case SpvOpGroupNonUniformAny: return some(s, ballot(s, operand(s, i, 0)));
    case SpvOpGroupNonUniformAllEqual: return all_equal(s, operand(s, i, 0));
    case SpvOpGroupNonUniformBroadcast:
    case SpvOpGroupNonUniformShuffle: return shuffle(s, IR_OP_SUB_GROUP_SHUFFLE, operand(s, i, 0), operand(s, i, 1));
    case SpvOpGroupNonUniformBroadcastFirst: {
        struct ir_value *first = find_bit(s, ballot(s, ir_const_bool(s->r->module, true)), false);
        return shuffle(s, IR_OP_SUB_GROUP_SHUFFLE, operand(s, i, 0), first);
    }
    case SpvOpGroupNonUniformBallot: return ballot(s, operand(s, i, 0));
    case SpvOpGroupNonUniformInverseBallot:
        return bit(s, operand(s, i, 0), ir_build0(&s->b, IR_OP_SUB_GROUP_LOCAL_ID, IR_VOID));
    case SpvOpGroupNonUniformBallotBitExtract: return bit(s, operand(s, i, 0), operand(s, i, 1));
    case SpvOpGroupNonUniformBallotBitCount: return count_bits(s, spirv_value(s, i, i->words[5]), i->words[4]);
    case SpvOpGroupNonUniformBallotFindLSB: return find_bit(s, operand(s, i, 0), false);
    case SpvOpGroupNonUniformBallotFindMSB: return find_bit(s, operand(s, i, 0), true);
    case SpvOpGroupNonUniformShuffleXor:
        return shuffle(s, IR_OP_SUB_GROUP_SHUFFLE_XOR, operand(s, i, 0), operand(s, i, 1));
    case SpvOpGroupNonUniformShuffleUp:
        return shift(s, IR_OP_SUB_GROUP_SHUFFLE_UP, operand(s, i, 0), operand(s, i, 0), operand(s, i, 1));
    case SpvOpGroupNonUniformShuffleDown:
        return shift(s, IR_OP_SUB_GROUP_SHUFFLE_DOWN, operand(s, i, 0), operand(s, i, 0), operand(s, i, 1));
    case SpvOpGroupNonUniformRotateKHR:
        if (i->n > 6) return NULL;
        return shuffle(s, IR_OP_SUB_GROUP_ROTATE, operand(s, i, 0), operand(s, i, 1));
    default: return NULL;
    }
}

static bool emit_non_uniform(struct spirv_body *s, const struct spirv_inst *i)
{
    bool is_one = (i->op >= SpvOpGroupNonUniformElect && i->op <= SpvOpGroupNonUniformShuffleDown) ||
                  i->op == SpvOpGroupNonUniformRotateKHR;
    if (!is_one) return false;
    if (spirv_scope(s, i->words[3]) != IR_SCOPE_SUB_GROUP) {
        spirv_fail(s->r, i, "has a scope of execution that is not a sub-group");
        return true;
    }
    struct ir_value *r = non_uniform(s, i);
    if (!r) spirv_fail(s->r, i, "cannot be read");
    if (r && !s->r->failed_function) spirv_set(s, i, r);
    return true;
}

/* ---- Intel's ---- */

static struct ir_value *intel(struct spirv_body *s, const struct spirv_inst *i, uint32_t k)
{
    return spirv_value(s, i, i->words[3 + k]);
}

static bool emit_intel(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpSubgroupShuffleINTEL:
        spirv_set(s, i, shuffle(s, IR_OP_SUB_GROUP_SHUFFLE, intel(s, i, 0), intel(s, i, 1)));
        return true;
    case SpvOpSubgroupShuffleXorINTEL:
        spirv_set(s, i, shuffle(s, IR_OP_SUB_GROUP_SHUFFLE_XOR, intel(s, i, 0), intel(s, i, 1)));
        return true;
    case SpvOpSubgroupShuffleUpINTEL:
        spirv_set(s, i, shift(s, IR_OP_SUB_GROUP_SHUFFLE_UP, intel(s, i, 0), intel(s, i, 1), intel(s, i, 2)));
        return true;
    case SpvOpSubgroupShuffleDownINTEL:
        spirv_set(s, i, shift(s, IR_OP_SUB_GROUP_SHUFFLE_DOWN, intel(s, i, 0), intel(s, i, 1), intel(s, i, 2)));
        return true;
    case SpvOpSubgroupBlockReadINTEL:
        spirv_set(s, i, ir_build1(&s->b, IR_OP_BLOCK_READ, result_type(s, i), intel(s, i, 0)));
        return true;
    case SpvOpSubgroupBlockWriteINTEL: {
        struct ir_value *o[2] = {spirv_value(s, i, i->words[1]), spirv_value(s, i, i->words[2])};
        ir_build(&s->b, IR_OP_BLOCK_WRITE, o[1]->type, o, 2);
        return true;
    }
    case SpvOpSubgroupImageBlockReadINTEL:
        spirv_set(s, i, ir_build2(&s->b, IR_OP_IMAGE_BLOCK_READ, result_type(s, i), intel(s, i, 0), intel(s, i, 1)));
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
    if (s->r->failed_function) return;
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
    default: return emit_reduction(s, i) || emit_non_uniform(s, i) || emit_intel(s, i);
    }
}
