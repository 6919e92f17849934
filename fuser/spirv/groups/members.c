/* The work-items of a sub-group. */
#include "fuser/spirv/groups/members.h"

#include <spirv/unified1/spirv.h>

#include "fuser/spirv/base/builtin.h"
#include "fuser/spirv/base/ids.h"
#include "fuser/spirv/base/scope.h"
#include "fuser/spirv/groups/exchange.h"

static uint32_t word_type(struct spw *w)
{
    return spw_type_int(&w->m, 32, 1);
}

static uint32_t word(struct spw *w, unsigned opcode, uint32_t x, uint32_t y)
{
    return SPW_EMIT(w, opcode, word_type(w), x, y);
}

static uint32_t number(struct spw *w, uint32_t v)
{
    return spw_const_u32(&w->m, v);
}

/* ---- sizes ---- */

void spw_members_open(struct spw *w)
{
    const struct spirv_target *t = w->target;
    uint32_t size = w->kernel->sub_group_size, device = t->sub_group;
    if (!size || size >= IR_SUB_GROUP_AUTOMATIC) size = device;
    if (!device || !size) {
        spw_fail(w, "uses sub-groups, which the device lacks");
        size = device = 1;
    }
    if (size >= t->min_sub_group && size <= t->max_sub_group) device = size;
    w->sub_group = size;
    w->device_sub_group = w->vulkan ? device : 1;
    w->out->sub_group_size = w->vulkan ? device : 0;
}

static void ask(struct spw *w, uint32_t capability)
{
    spw_capability(&w->m, SpvCapabilityGroupNonUniform);
    spw_capability(&w->m, capability);
}

static uint32_t lane(struct spw *w)
{
    spw_capability(&w->m, SpvCapabilityGroupNonUniform);
    return spw_builtin(w, SpvBuiltInSubgroupLocalInvocationId, word_type(w));
}

static uint32_t in_prologue(struct spw *w, unsigned opcode, uint32_t x, uint32_t y)
{
    return spw_once(&w->m, SPW_PROLOGUE, opcode, word_type(w), (uint32_t[]){x, y}, 2);
}

static uint32_t own_id(struct spw *w)
{
    if (w->vulkan && w->sub_group == w->device_sub_group) return lane(w);
    return in_prologue(w, SpvOpBitwiseAnd, spw_linear_in_sub_groups(w), number(w, w->sub_group - 1));
}

static uint32_t items(struct spw *w, bool enqueued)
{
    uint32_t n = 0;
    for (unsigned d = 0; d < 3; d++) {
        uint32_t size = spw_id_of(w, enqueued ? IR_OP_ENQUEUED_LOCAL_SIZE : IR_OP_LOCAL_SIZE, d);
        size = spw_once(&w->m, SPW_PROLOGUE, SpvOpUConvert, word_type(w), &size, 1);
        n = d ? in_prologue(w, SpvOpIMul, n, size) : size;
    }
    return n;
}

static uint32_t groups_of(struct spw *w, uint32_t n)
{
    uint32_t more = in_prologue(w, SpvOpIAdd, n, number(w, w->sub_group - 1));
    return in_prologue(w, SpvOpUDiv, more, number(w, w->sub_group));
}

/* Of this sub-group: the last one may have less. */
static uint32_t own_size(struct spw *w)
{
    uint32_t first = in_prologue(w, SpvOpISub, spw_linear_in_sub_groups(w), own_id(w));
    uint32_t rest = in_prologue(w, SpvOpISub, items(w, false), first), most = number(w, w->sub_group);
    uint32_t less = spw_once(&w->m, SPW_PROLOGUE, SpvOpULessThan, spw_type_bool(&w->m, 1), (uint32_t[]){rest, most}, 2);
    return spw_once(&w->m, SPW_PROLOGUE, SpvOpSelect, word_type(w), (uint32_t[]){less, rest, most}, 3);
}

uint32_t spw_members_query(struct spw *w, enum ir_op op)
{
    switch (op) {
    case IR_OP_SUB_GROUP_SIZE: return own_size(w);
    case IR_OP_SUB_GROUP_MAX_SIZE: return number(w, w->sub_group);
    case IR_OP_NUM_SUB_GROUPS: return groups_of(w, items(w, false));
    case IR_OP_ENQUEUED_NUM_SUB_GROUPS: return groups_of(w, items(w, true));
    case IR_OP_SUB_GROUP_ID: return in_prologue(w, SpvOpUDiv, spw_linear_in_sub_groups(w), number(w, w->sub_group));
    default: return own_id(w);
    }
}

/* ---- through memory of the work-group ---- */

/* The exchange needs all work-items: where they may part ways it cannot be. */
bool spw_come_to_exchange(struct spw *w)
{
    if (map_find(&w->uniform, (uint64_t)(uintptr_t)w->inst)) return true;
    spw_fail(w,
             "in sub-groups of %u work-items, where work-items may have parted ways, needs a device whose sub-groups "
             "are not smaller than that",
             w->sub_group);
    return false;
}

bool spw_exchanges(const struct spw *w)
{
    return w->sub_group > w->device_sub_group;
}

static uint32_t first_member(struct spw *w)
{
    return in_prologue(w, SpvOpISub, spw_linear_in_sub_groups(w), own_id(w));
}

/* Ids beyond the sub-group give its own bits somewhere, and never lead outside of memory. */
static uint32_t member_place(struct spw *w, uint32_t id)
{
    uint32_t inside = word(w, SpvOpBitwiseAnd, id, number(w, w->sub_group - 1));
    uint32_t at = word(w, SpvOpIAdd, first_member(w), inside), all = items(w, false);
    uint32_t there = SPW_EMIT(w, SpvOpULessThan, spw_type_bool(&w->m, 1), at, all);
    return SPW_EMIT(w, SpvOpSelect, word_type(w), there, at, spw_linear_in_sub_groups(w));
}

uint32_t spw_fetch(struct spw *w, uint32_t x, uint32_t id)
{
    if (spw_exchanges(w)) {
        if (!spw_come_to_exchange(w)) return x;
        spw_exchange_put(w, 0, spw_linear_in_sub_groups(w), x);
        spw_exchange_wait(w);
        uint32_t r = spw_exchange_get(w, 0, member_place(w, id));
        spw_exchange_wait(w);
        return r;
    }
    if (!w->vulkan) return x; /* it is alone */
    ask(w, SpvCapabilityGroupNonUniformShuffle);
    id = word(w, SpvOpBitwiseAnd, id, number(w, w->sub_group - 1));
    if (w->sub_group < w->device_sub_group) {
        uint32_t base = in_prologue(w, SpvOpISub, lane(w), own_id(w));
        id = word(w, SpvOpIAdd, base, id);
    }
    return SPW_EMIT(w, SpvOpGroupNonUniformShuffle, word_type(w), spw_scope(w, IR_SCOPE_SUB_GROUP), x, id);
}

/* ---- ballots ---- */

/* Each member's word is looked at. */
static void exchanged_ballot(struct spw *w, uint32_t x, uint32_t words[2])
{
    words[0] = words[1] = number(w, 0);
    if (!spw_come_to_exchange(w)) return;
    spw_exchange_put(w, 0, spw_linear_in_sub_groups(w),
                     SPW_EMIT(w, SpvOpSelect, word_type(w), x, number(w, 1), number(w, 0)));
    spw_exchange_wait(w);
    for (uint32_t i = 0; i < w->sub_group && i < 64; i++) {
        uint32_t at = word(w, SpvOpIAdd, first_member(w), number(w, i)), all = items(w, false);
        uint32_t there = SPW_EMIT(w, SpvOpULessThan, spw_type_bool(&w->m, 1), at, all);
        uint32_t safe = SPW_EMIT(w, SpvOpSelect, word_type(w), there, at, number(w, 0));
        uint32_t bit = word(w, SpvOpShiftLeftLogical, spw_exchange_get(w, 0, safe), number(w, i % 32));
        bit = SPW_EMIT(w, SpvOpSelect, word_type(w), there, bit, number(w, 0));
        words[i / 32] = word(w, SpvOpBitwiseOr, words[i / 32], bit);
    }
    spw_exchange_wait(w);
}

void spw_ballot(struct spw *w, uint32_t x, uint32_t words[2])
{
    if (spw_exchanges(w)) {
        exchanged_ballot(w, x, words);
        return;
    }
    if (!w->vulkan) {
        words[0] = SPW_EMIT(w, SpvOpSelect, word_type(w), x, number(w, 1), number(w, 0));
        words[1] = number(w, 0);
        return;
    }
    ask(w, SpvCapabilityGroupNonUniformBallot);
    uint32_t type = spw_type_int(&w->m, 32, 4);
    uint32_t all = SPW_EMIT(w, SpvOpGroupNonUniformBallot, type, spw_scope(w, IR_SCOPE_SUB_GROUP), x);
    for (uint32_t i = 0; i < 2; i++) words[i] = SPW_EMIT(w, SpvOpCompositeExtract, word_type(w), all, i);
    if (w->sub_group == w->device_sub_group) return;
    /* The part of the device's sub-group that is this one: of 32 at most, so within one of the words. */
    uint32_t base = in_prologue(w, SpvOpISub, lane(w), own_id(w));
    uint32_t high = SPW_EMIT(w, SpvOpUGreaterThanEqual, spw_type_bool(&w->m, 1), base, number(w, 32));
    uint32_t part = SPW_EMIT(w, SpvOpSelect, word_type(w), high, words[1], words[0]);
    part = word(w, SpvOpShiftRightLogical, part, word(w, SpvOpBitwiseAnd, base, number(w, 31)));
    words[0] = word(w, SpvOpBitwiseAnd, part, number(w, w->sub_group < 32 ? (1u << w->sub_group) - 1 : ~0u));
    words[1] = number(w, 0);
}
