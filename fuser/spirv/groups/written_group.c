/*
 * Operations of groups written out, each scalar of a value by itself and all as words of 32 bits: those are what every
 * device can move. Sums and the like go in the order that the kernel language gives them, so they are the same on each.
 */
#include "fuser/spirv/groups/written_group.h"

#include <spirv/unified1/spirv.h>

#include "fuser/spirv/base/bits.h"
#include "fuser/spirv/base/ids.h"
#include "fuser/spirv/base/scope.h"
#include "fuser/spirv/groups/members.h"
#include "fuser/spirv/groups/scan.h"
#include "fuser/spirv/groups/work_group.h"
#include "fuser/spirv/memory/memory.h"
#include "fuser/spirv/numbers/operation.h"
#include "fuser/spirv/numbers/words.h"

typedef struct formula_value value;

static uint32_t number(struct spw *w, uint32_t v)
{
    return spw_const_u32(&w->m, v);
}

static uint32_t word(struct spw *w, unsigned opcode, uint32_t x, uint32_t y)
{
    return SPW_EMIT(w, opcode, spw_type_int(&w->m, 32, 1), x, y);
}

static uint32_t question(struct spw *w, unsigned opcode, uint32_t x, uint32_t y)
{
    return SPW_EMIT(w, opcode, spw_type_bool(&w->m, 1), x, y);
}

static uint32_t own_id(struct spw *w)
{
    return spw_members_query(w, IR_OP_SUB_GROUP_LOCAL_ID);
}

/* An integer of any width as a word. */
static uint32_t as_word(struct spw *w, const struct ir_value *v)
{
    uint32_t x = spw_value1(w, v);
    return ir_type_bits(v->type) == 32 ? x : SPW_EMIT(w, SpvOpUConvert, spw_type_int(&w->m, 32, 1), x);
}

/* ---- shuffles ---- */

/* What the member with that id has, of any scalar. */
static uint32_t fetched(struct spw *w, ir_type t, uint32_t x, uint32_t id)
{
    uint32_t words[2];
    unsigned n = spw_to_words(w, t, x, words);
    for (unsigned i = 0; i < n; i++) words[i] = spw_fetch(w, words[i], id);
    return spw_from_words(w, t, words);
}

static uint32_t shifted(struct spw *w, const struct ir_inst *inst, ir_type t, unsigned part)
{
    bool up = inst->op == IR_OP_SUB_GROUP_SHUFFLE_UP;
    uint32_t x = spw_lane(w, inst->operands[0], part), y = spw_lane(w, inst->operands[1], part);
    uint32_t by = as_word(w, inst->operands[2]), id = own_id(w), size = number(w, w->sub_group);
    uint32_t at = word(w, up ? SpvOpISub : SpvOpIAdd, id, by);
    uint32_t inside = up ? question(w, SpvOpUGreaterThanEqual, id, by) : question(w, SpvOpULessThan, at, size);
    uint32_t usual = fetched(w, t, up ? y : x, at), other = fetched(w, t, up ? x : y, at);
    return SPW_EMIT(w, SpvOpSelect, spw_part_type(w, t), inside, usual, other);
}

static uint32_t shuffle_id(struct spw *w, const struct ir_inst *inst)
{
    uint32_t x = as_word(w, inst->operands[1]);
    if (inst->op == IR_OP_SUB_GROUP_SHUFFLE_XOR) return word(w, SpvOpBitwiseXor, own_id(w), x);
    if (inst->op != IR_OP_SUB_GROUP_ROTATE) return x;
    return word(w, SpvOpUMod, word(w, SpvOpIAdd, own_id(w), x), spw_members_query(w, IR_OP_SUB_GROUP_SIZE));
}

static void shuffle(struct spw *w, const struct ir_inst *inst)
{
    ir_type t = ir_type_element(inst->type);
    bool shift = inst->op == IR_OP_SUB_GROUP_SHUFFLE_UP || inst->op == IR_OP_SUB_GROUP_SHUFFLE_DOWN;
    uint32_t parts[IR_MAX_LANES], id = shift ? 0 : shuffle_id(w, inst);
    for (unsigned p = 0; p < ir_type_lanes(inst->type); p++)
        parts[p] = shift ? shifted(w, inst, t, p) : fetched(w, t, spw_lane(w, inst->operands[0], p), id);
    spw_set_lanes(w, inst->results[0], parts);
}

/* ---- votes ---- */

static uint32_t some(struct spw *w, uint32_t condition)
{
    uint32_t words[2];
    spw_ballot(w, condition, words);
    return question(w, SpvOpINotEqual, word(w, SpvOpBitwiseOr, words[0], words[1]), number(w, 0));
}

static uint32_t opposite(struct spw *w, uint32_t x)
{
    return SPW_EMIT(w, SpvOpLogicalNot, spw_type_bool(&w->m, 1), x);
}

static void ballot(struct spw *w, const struct ir_inst *inst)
{
    uint32_t words[4];
    spw_ballot(w, spw_value1(w, inst->operands[0]), words);
    words[2] = words[3] = number(w, 0);
    spw_set_lanes(w, inst->results[0], words);
}

/* The first member that is there. */
static uint32_t first_member(struct spw *w)
{
    uint32_t words[2];
    spw_ballot(w, spw_const_number(&w->m, IR_KIND_BOOL, 1, 1), words);
    w->lanes = 1;
    value low = {IR_KIND_I32, words[0], NULL}, high = {IR_KIND_I32, words[1], NULL};
    uint32_t a = (uint32_t)spw_compute(&w->formula, IR_OP_CTZ, IR_KIND_I32, 1, &low).bits;
    uint32_t b = (uint32_t)spw_compute(&w->formula, IR_OP_CTZ, IR_KIND_I32, 1, &high).bits;
    uint32_t none = question(w, SpvOpIEqual, words[0], number(w, 0));
    uint32_t behind = word(w, SpvOpIAdd, b, number(w, 32));
    return SPW_EMIT(w, SpvOpSelect, spw_type_int(&w->m, 32, 1), none, behind, a);
}

static void all_equal(struct spw *w, const struct ir_inst *inst)
{
    ir_type t = ir_type_element(inst->type);
    uint32_t differs = 0, first = first_member(w);
    for (unsigned p = 0; p < ir_type_lanes(inst->type); p++) {
        uint32_t x = spw_lane(w, inst->operands[0], p), y = fetched(w, t, x, first);
        uint32_t here = question(w, ir_type_is_float(t) ? SpvOpFUnordNotEqual : SpvOpINotEqual, x, y);
        differs = p ? SPW_EMIT(w, SpvOpLogicalOr, spw_type_bool(&w->m, 1), differs, here) : here;
    }
    spw_set1(w, inst->results[0], opposite(w, some(w, differs)));
}

/* ---- reductions and scans of a sub-group ---- */

static uint32_t chosen(struct spw *w, ir_type t, uint32_t condition, uint32_t x, uint32_t y)
{
    return SPW_EMIT(w, SpvOpSelect, spw_part_type(w, t), condition, x, y);
}

/* By halves: each member takes in the one so far behind it, where that is there. */
static uint32_t reduced(struct spw *w, ir_type t, enum ir_group_op op, uint32_t x)
{
    uint32_t id = own_id(w), size = spw_members_query(w, IR_OP_SUB_GROUP_SIZE);
    for (uint32_t d = w->sub_group / 2; d; d /= 2) {
        uint32_t at = word(w, SpvOpIAdd, id, number(w, d)), there = question(w, SpvOpULessThan, at, size);
        x = chosen(w, t, there, spw_combined(w, t, op, x, fetched(w, t, x, at)), x);
    }
    return fetched(w, t, x, number(w, 0));
}

static uint32_t sub_group_collective(struct spw *w, const struct ir_inst *inst, ir_type t, uint32_t x)
{
    switch (inst->op) {
    case IR_OP_GROUP_ALL: return opposite(w, some(w, opposite(w, x)));
    case IR_OP_GROUP_ANY: return some(w, x);
    case IR_OP_GROUP_BROADCAST: return fetched(w, t, x, as_word(w, inst->operands[1]));
    case IR_OP_GROUP_REDUCE: return reduced(w, t, inst->attrs.group_op, x);
    default: return spw_scanned(w, inst, t, x, (struct spw_scan){own_id(w), number(w, w->sub_group), fetched});
    }
}

/* Scalar by scalar, whoever takes part. */
static void collective(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *v = inst->operands[0];
    ir_type t = ir_type_element(v->type);
    uint32_t parts[IR_MAX_LANES];
    if (spw_work_group_together(w, inst)) return;
    for (unsigned p = 0; p < ir_type_lanes(v->type); p++) {
        uint32_t x = spw_lane(w, v, p);
        parts[p] = inst->attrs.scope == IR_SCOPE_SUB_GROUP ? sub_group_collective(w, inst, t, x)
                                                           : spw_work_group_collective(w, inst, t, x);
    }
    spw_set_lanes(w, inst->results[0], parts);
}

/* ---- blocks of memory ---- */

/* Component k of the member with an id lies at number k * size + id. */
static void block(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *p = inst->operands[0];
    enum ir_space space = ir_type_space(p->type);
    ir_type t = ir_type_element(inst->type);
    uint32_t bytes = ir_type_bits(t) / 8, wide = spw_type_int(&w->m, 64, 1), parts[IR_MAX_LANES];
    uint32_t id = SPW_EMIT(w, SpvOpUConvert, wide, own_id(w));
    uint32_t by = SPW_EMIT(w, SpvOpIMul, wide, id, spw_const_u64(&w->m, bytes));
    uint32_t own = spw_advance(w, space, spw_value1(w, p), by);
    for (unsigned k = 0; k < ir_type_lanes(inst->type); k++) {
        uint32_t at = spw_advance_by(w, space, own, (uint64_t)k * w->sub_group * bytes);
        if (inst->op == IR_OP_BLOCK_WRITE) parts[k] = spw_lane(w, inst->operands[1], k);
        if (inst->op == IR_OP_BLOCK_READ)
            spw_load(w, t, space, at, bytes, false, &parts[k]);
        else
            spw_store(w, t, space, at, bytes, false, &parts[k]);
    }
    if (inst->op == IR_OP_BLOCK_READ) spw_set_lanes(w, inst->results[0], parts);
}

/* A barrier of a sub-group: where that is the device's own they wait, else they run together or all wait. */
static void sub_group_barrier(struct spw *w, const struct ir_inst *inst)
{
    bool all = spw_exchanges(w), waits = all || w->sub_group == w->device_sub_group;
    uint32_t scope = spw_scope(w, all ? IR_SCOPE_WORK_GROUP : IR_SCOPE_SUB_GROUP);
    uint32_t semantics = spw_semantics(w, inst->attrs.fence ? IR_ORDER_ACQ_REL : IR_ORDER_RELAXED, inst->attrs.fence);
    if (all && !spw_come_to_exchange(w)) return;
    if (waits)
        SPW_DO(w, SpvOpControlBarrier, scope, scope, semantics);
    else if (inst->attrs.fence)
        SPW_DO(w, SpvOpMemoryBarrier, scope, semantics);
}

void spw_written_group(struct spw *w, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_BARRIER: sub_group_barrier(w, inst); break;
    case IR_OP_SUB_GROUP_ELECT:
        spw_set1(w, inst->results[0], question(w, SpvOpIEqual, own_id(w), first_member(w)));
        break;
    case IR_OP_SUB_GROUP_BALLOT: ballot(w, inst); break;
    case IR_OP_SUB_GROUP_ALL_EQUAL: all_equal(w, inst); break;
    case IR_OP_SUB_GROUP_SHUFFLE ... IR_OP_SUB_GROUP_ROTATE: shuffle(w, inst); break;
    case IR_OP_BLOCK_READ:
    case IR_OP_BLOCK_WRITE: block(w, inst); break;
    case IR_OP_IMAGE_BLOCK_READ:
    case IR_OP_IMAGE_BLOCK_WRITE: spw_fail(w, "cannot be written: SPIR-V here has no images"); break;
    case IR_OP_SUB_GROUP_SIZE ... IR_OP_SUB_GROUP_LOCAL_ID:
        spw_set1(w, inst->results[0], spw_members_query(w, inst->op));
        break;
    default: collective(w, inst); break;
    }
}
