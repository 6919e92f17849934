/*
 * Operations of the work-items of a sub-group that are there (GroupNonUniform...): votes, ballots, shuffles, and
 * reductions and scans, which go over the sub-group one work-item after the other.
 */
#include "ir/spirv/translate/instructions/sub_group.h"

#include <math.h>

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/translate/instructions/lanes.h"
#include "ir/spirv/translate/instructions/reduction.h"
#include "ir/spirv/translate/instructions/scope.h"
#include "ir/spirv/translate/values/values.h"

/* ---- ballots ---- */

static struct ir_value *build_ballot(struct spirv_body *s, struct ir_value *x)
{
    return ir_build1(&s->b, IR_OP_SUB_GROUP_BALLOT, IR_VOID, x);
}

static struct ir_value *ballot_word(struct spirv_body *s, struct ir_value *v, unsigned k)
{
    return ir_build2(&s->b, IR_OP_EXTRACT, v->type, v, spirv_int(s, IR_I32, k));
}

/* Whether a bit of a ballot is set. */
static struct ir_value *some_bit(struct spirv_body *s, struct ir_value *b)
{
    struct ir_value *x = ir_build2(&s->b, IR_OP_OR, IR_I32, ballot_word(s, b, 0), ballot_word(s, b, 1));
    struct ir_value *y = ir_build2(&s->b, IR_OP_OR, IR_I32, ballot_word(s, b, 2), ballot_word(s, b, 3));
    return ir_build2(&s->b, IR_OP_INE, IR_I32, ir_build2(&s->b, IR_OP_OR, IR_I32, x, y), spirv_int(s, IR_I32, 0));
}

/* The number of a ballot's first (or last) bit. */
static struct ir_value *find_bit(struct spirv_body *s, struct ir_value *b, bool last)
{
    struct ir_value *r = spirv_int(s, IR_I32, 0);
    for (unsigned k = 0; k < 4; k++) {
        unsigned at = last ? k : 3 - k; /* the word that counts most comes last */
        struct ir_value *w = ballot_word(s, b, at);
        struct ir_value *place = ir_build1(&s->b, last ? IR_OP_CLZ : IR_OP_CTZ, IR_I32, w);
        if (last) place = ir_build2(&s->b, IR_OP_SUB, IR_I32, spirv_int(s, IR_I32, 31), place);
        place = ir_build2(&s->b, IR_OP_ADD, IR_I32, place, spirv_int(s, IR_I32, 32 * at));
        struct ir_value *is = ir_build2(&s->b, IR_OP_INE, IR_I32, w, spirv_int(s, IR_I32, 0));
        r = ir_build3(&s->b, IR_OP_SELECT, IR_I32, is, place, r);
    }
    return r;
}

/* The bit of a ballot for one work-item. */
static struct ir_value *ballot_bit(struct spirv_body *s, struct ir_value *b, struct ir_value *id)
{
    id = spirv_as_int(s, id, IR_I32);
    struct ir_value *at = ir_build2(&s->b, IR_OP_LSHR, IR_I32, id, spirv_int(s, IR_I32, 5));
    struct ir_value *w = ir_build2(&s->b, IR_OP_EXTRACT, b->type, b, at);
    struct ir_value *x = ir_build2(&s->b, IR_OP_LSHR, IR_I32, w, id);
    x = ir_build2(&s->b, IR_OP_AND, IR_I32, x, spirv_int(s, IR_I32, 1));
    return ir_build2(&s->b, IR_OP_INE, IR_I32, x, spirv_int(s, IR_I32, 0));
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
        struct ir_value *bits = ir_build2(&s->b, IR_OP_AND, IR_I32, ballot_word(s, b, k), spirv_low_bits(s, end, k));
        sum = ir_build2(&s->b, IR_OP_ADD, IR_I32, sum, ir_build1(&s->b, IR_OP_POPCOUNT, IR_I32, bits));
    }
    return sum;
}

static struct ir_value *all_equal(struct spirv_body *s, struct ir_value *x)
{
    if (ir_type_is_bool(x->type)) x = ir_build1(&s->b, IR_OP_ZEXT, IR_I32, x);
    return ir_build1(&s->b, IR_OP_SUB_GROUP_ALL_EQUAL, x->type, x);
}

/* Words 4 and 5 of the instruction, past type, id and scope. */
static struct ir_value *operand_at(struct spirv_body *s, const struct spirv_inst *i, uint32_t k)
{
    return spirv_value(s, i, i->words[4 + k]);
}

static struct ir_value *build_not(struct spirv_body *s, struct ir_value *x)
{
    return ir_build1(&s->b, IR_OP_NOT, IR_BOOL, x);
}

static struct ir_value *build_non_uniform(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpGroupNonUniformElect: return ir_build0(&s->b, IR_OP_SUB_GROUP_ELECT, IR_VOID);
    case SpvOpGroupNonUniformAll: return build_not(s, some_bit(s, build_ballot(s, build_not(s, operand_at(s, i, 0)))));
    case SpvOpGroupNonUniformAny: return some_bit(s, build_ballot(s, operand_at(s, i, 0)));
    case SpvOpGroupNonUniformAllEqual: return all_equal(s, operand_at(s, i, 0));
    case SpvOpGroupNonUniformBroadcast:
    case SpvOpGroupNonUniformShuffle:
        return spirv_shuffle(s, IR_OP_SUB_GROUP_SHUFFLE, operand_at(s, i, 0), operand_at(s, i, 1));
    case SpvOpGroupNonUniformBroadcastFirst: {
        struct ir_value *first = find_bit(s, build_ballot(s, ir_const_bool(s->r->module, true)), false);
        return spirv_shuffle(s, IR_OP_SUB_GROUP_SHUFFLE, operand_at(s, i, 0), first);
    }
    case SpvOpGroupNonUniformBallot: return build_ballot(s, operand_at(s, i, 0));
    case SpvOpGroupNonUniformInverseBallot:
        return ballot_bit(s, operand_at(s, i, 0), ir_build0(&s->b, IR_OP_SUB_GROUP_LOCAL_ID, IR_VOID));
    case SpvOpGroupNonUniformBallotBitExtract: return ballot_bit(s, operand_at(s, i, 0), operand_at(s, i, 1));
    case SpvOpGroupNonUniformBallotBitCount: return count_bits(s, spirv_value(s, i, i->words[5]), i->words[4]);
    case SpvOpGroupNonUniformBallotFindLSB: return find_bit(s, operand_at(s, i, 0), false);
    case SpvOpGroupNonUniformBallotFindMSB: return find_bit(s, operand_at(s, i, 0), true);
    case SpvOpGroupNonUniformShuffleXor:
        return spirv_shuffle(s, IR_OP_SUB_GROUP_SHUFFLE_XOR, operand_at(s, i, 0), operand_at(s, i, 1));
    case SpvOpGroupNonUniformShuffleUp:
        return spirv_shift(s, IR_OP_SUB_GROUP_SHUFFLE_UP, operand_at(s, i, 0), operand_at(s, i, 0),
                           operand_at(s, i, 1));
    case SpvOpGroupNonUniformShuffleDown:
        return spirv_shift(s, IR_OP_SUB_GROUP_SHUFFLE_DOWN, operand_at(s, i, 0), operand_at(s, i, 0),
                           operand_at(s, i, 1));
    case SpvOpGroupNonUniformRotateKHR:
        if (i->n > 6) return NULL;
        return spirv_shuffle(s, IR_OP_SUB_GROUP_ROTATE, operand_at(s, i, 0), operand_at(s, i, 1));
    default: return NULL;
    }
}

/* ---- reductions and scans ---- */

static struct ir_value *identity_of(struct spirv_body *s, enum ir_group_op op, ir_type t)
{
    struct ir_module *m = s->r->module;
    uint64_t top = 1ull << (ir_type_bits(t) - 1), all = top | (top - 1);
    bool is_float = ir_type_is_float(t);
    switch (op) {
    case IR_GROUP_MUL: return is_float ? ir_const_float(m, t, 1) : ir_const_int(m, t, 1);
    case IR_GROUP_SMIN: return is_float ? ir_const_float(m, t, HUGE_VAL) : ir_const_int(m, t, all - top);
    case IR_GROUP_SMAX: return is_float ? ir_const_float(m, t, -HUGE_VAL) : ir_const_int(m, t, top);
    case IR_GROUP_UMIN:
    case IR_GROUP_AND: return ir_const_int(m, t, all);
    default: return ir_const_int(m, t, 0);
    }
}

static struct ir_value *combine_values(struct ir_builder *b, enum ir_group_op op, struct ir_value *x,
                                       struct ir_value *y)
{
    static const uint16_t of_ints[] = {
        [IR_GROUP_ADD] = IR_OP_ADD,   [IR_GROUP_MUL] = IR_OP_MUL,   [IR_GROUP_SMIN] = IR_OP_SMIN,
        [IR_GROUP_UMIN] = IR_OP_UMIN, [IR_GROUP_SMAX] = IR_OP_SMAX, [IR_GROUP_UMAX] = IR_OP_UMAX,
        [IR_GROUP_AND] = IR_OP_AND,   [IR_GROUP_OR] = IR_OP_OR,     [IR_GROUP_XOR] = IR_OP_XOR,
    };
    static const uint16_t of_floats[] = {
        [IR_GROUP_ADD] = IR_OP_FADD,
        [IR_GROUP_MUL] = IR_OP_FMUL,
        [IR_GROUP_SMIN] = IR_OP_FMIN,
        [IR_GROUP_SMAX] = IR_OP_FMAX,
    };
    uint16_t inst = ir_type_is_float(x->type) ? of_floats[op] : of_ints[op];
    return ir_build2(b, (enum ir_op)inst, x->type, x, y);
}

/* Whether the value of work-item number `lane` goes into this one's result. */
static struct ir_value *counts_lane(struct spirv_body *s, struct ir_value *there, struct ir_value *lane,
                                    uint32_t operation, struct ir_value *cluster)
{
    struct ir_builder *b = &s->b;
    struct ir_value *active = ballot_bit(s, there, lane), *id = ir_build0(b, IR_OP_SUB_GROUP_LOCAL_ID, IR_VOID), *in;
    switch (operation) {
    case SpvGroupOperationInclusiveScan: in = ir_build2(b, IR_OP_ULE, IR_I32, lane, id); break;
    case SpvGroupOperationExclusiveScan: in = ir_build2(b, IR_OP_ULT, IR_I32, lane, id); break;
    case SpvGroupOperationClusteredReduce:
        in = ir_build2(b, IR_OP_ULT, IR_I32, ir_build2(b, IR_OP_XOR, IR_I32, lane, id), cluster);
        break;
    default: return active;
    }
    return ir_build2(b, IR_OP_AND, IR_BOOL, active, in);
}

static struct ir_value *over_lanes(struct spirv_body *s, enum ir_group_op op, struct ir_value *x, uint32_t operation,
                                   struct ir_value *cluster)
{
    struct ir_value *there = build_ballot(s, ir_const_bool(s->r->module, true));
    struct ir_value *size = ir_build0(&s->b, IR_OP_SUB_GROUP_MAX_SIZE, IR_VOID);
    struct ir_value *start[2] = {spirv_int(s, IR_I32, 0), identity_of(s, op, x->type)};
    struct ir_inst *loop = ir_build_loop(&s->b, start, 2, &x->type, 1);
    struct ir_builder outer = s->b, inner = ir_builder_at_end(loop->blocks[0]);
    struct ir_value *lane = loop->blocks[0]->args[0], *sum = loop->blocks[0]->args[1];
    inner.loc = outer.loc;
    struct ir_inst *end = ir_build_if(&inner, ir_build2(&inner, IR_OP_UGE, IR_I32, lane, size), NULL, 0);
    struct ir_builder side = ir_builder_at_end(end->blocks[0]);
    ir_build(&side, IR_OP_BREAK, IR_VOID, &sum, 1);
    side = ir_builder_at_end(end->blocks[1]);
    ir_build(&side, IR_OP_YIELD, IR_VOID, NULL, 0);
    s->b = inner;
    struct ir_value *other = spirv_shuffle(s, IR_OP_SUB_GROUP_SHUFFLE, x, lane);
    struct ir_value *next[2] = {ir_build2(&s->b, IR_OP_ADD, IR_I32, lane, spirv_int(s, IR_I32, 1)), NULL};
    struct ir_value *more = combine_values(&s->b, op, sum, other);
    struct ir_value *is = counts_lane(s, there, lane, operation, cluster);
    next[1] = ir_build3(&s->b, IR_OP_SELECT, x->type, is, more, sum);
    ir_build(&s->b, IR_OP_CONTINUE, IR_VOID, next, 2);
    s->b = outer;
    return loop->results[0];
}

static bool emit_reduction(struct spirv_body *s, const struct spirv_inst *i)
{
    const struct reduction *e = reduction_find(i->op);
    if (!e || e->non_uniform != i->op) return false;
    struct ir_value *x = spirv_value(s, i, i->words[5]), *cluster = NULL;
    if (i->words[4] == SpvGroupOperationClusteredReduce && i->n > 6) {
        cluster = spirv_as_int(s, spirv_value(s, i, i->words[6]), IR_I32);
    } else if (i->words[4] > SpvGroupOperationExclusiveScan) {
        spirv_fail(s->r, i, "has group operation %u, which cannot be read", i->words[4]);
    }
    if (spirv_failed(s->r)) return true;
    bool logical = ir_type_is_bool(x->type);
    if (logical) x = ir_build1(&s->b, IR_OP_ZEXT, ir_type_with_lanes(IR_I32, ir_type_lanes(x->type)), x);
    struct ir_value *r = over_lanes(s, (enum ir_group_op)e->op, x, i->words[4], cluster);
    if (logical) r = ir_build2(&s->b, IR_OP_INE, x->type, r, spirv_int(s, x->type, 0));
    spirv_set(s, i, r);
    return true;
}

static bool emit_one(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *r = build_non_uniform(s, i);
    if (!r) return false;
    if (!spirv_failed(s->r)) spirv_set(s, i, r);
    return true;
}

bool spirv_emit_subgroup(struct spirv_body *s, const struct spirv_inst *i)
{
    if (i->op < SpvOpGroupNonUniformElect || i->op > SpvOpGroupNonUniformLogicalXor)
        return i->op == SpvOpGroupNonUniformRotateKHR && emit_one(s, i);
    if (spirv_scope(s, i->words[3]) != IR_SCOPE_SUB_GROUP) {
        spirv_fail(s->r, i, "has a scope of execution that is not a sub-group");
        return true;
    }
    return emit_reduction(s, i) || emit_one(s, i);
}
