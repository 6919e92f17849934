/* Operations of whole work-groups written out, through memory of the work-group: a word for each work-item, two rounds
   where numbers have two. */
#include "fuser/spirv/groups/work_group.h"

#include <spirv/unified1/spirv.h>

#include "fuser/spirv/base/branch.h"
#include "fuser/spirv/base/builtin.h"
#include "fuser/spirv/base/ids.h"
#include "fuser/spirv/groups/exchange.h"
#include "fuser/spirv/groups/halves.h"
#include "fuser/spirv/groups/scan.h"
#include "fuser/spirv/numbers/words.h"

static uint32_t word_type(struct spw *w)
{
    return spw_type_int(&w->m, 32, 1);
}

static uint32_t question(struct spw *w, unsigned opcode, uint32_t x, uint32_t y)
{
    return SPW_EMIT(w, opcode, spw_type_bool(&w->m, 1), x, y);
}

static uint32_t as_word(struct spw *w, uint32_t x)
{
    return SPW_EMIT(w, SpvOpUConvert, word_type(w), x);
}

/* In Vulkan a dispatch's work-groups are all of the size that its pipeline was made for: compilers know it. */
static uint32_t linear_id(struct spw *w)
{
    if (w->vulkan && w->sub_group) return spw_linear_in_sub_groups(w);
    if (w->vulkan) return spw_builtin(w, SpvBuiltInLocalInvocationIndex, word_type(w));
    return as_word(w, spw_id_of(w, IR_OP_LOCAL_LINEAR_ID, 0));
}

static uint32_t size_of(struct spw *w, unsigned dim)
{
    return as_word(w, spw_id_of(w, IR_OP_LOCAL_SIZE, dim));
}

/* What the work-item with a linear id has; all work-items come here. */
static uint32_t exchanged(struct spw *w, ir_type t, uint32_t x, uint32_t at)
{
    uint32_t words[2], n = spw_to_words(w, t, x, words), own = linear_id(w);
    for (uint32_t i = 0; i < n; i++) {
        spw_exchange_put(w, 0, own, words[i]);
        spw_exchange_wait(w);
        words[i] = spw_exchange_get(w, 0, at);
        spw_exchange_wait(w);
    }
    return spw_from_words(w, t, words);
}

/* Its linear id, from the ids in each dimension that are given. */
static uint32_t source_of(struct spw *w, const struct ir_inst *inst)
{
    uint32_t at = 0, type = word_type(w);
    for (uint32_t i = inst->n_operands - 1; i >= 1; i--) {
        const struct ir_value *v = inst->operands[i];
        uint32_t id = ir_type_bits(v->type) == 32 ? spw_value1(w, v) : as_word(w, spw_value1(w, v));
        at = at ? SPW_EMIT(w, SpvOpIAdd, type, SPW_EMIT(w, SpvOpIMul, type, at, size_of(w, i - 1)), id) : id;
    }
    return at;
}

/* ---- by halves ---- */

/* The largest power of two below a number, which is at least 1: 0 for 1. */
static uint32_t half_of(struct spw *w, uint32_t n)
{
    uint32_t type = word_type(w), x = SPW_EMIT(w, SpvOpISub, type, n, spw_const_u32(&w->m, 1));
    for (unsigned i = 1; i < 32; i *= 2)
        x = SPW_EMIT(w, SpvOpBitwiseOr, type, x, SPW_EMIT(w, SpvOpShiftRightLogical, type, x, spw_const_u32(&w->m, i)));
    return SPW_EMIT(w, SpvOpISub, type, x, SPW_EMIT(w, SpvOpShiftRightLogical, type, x, spw_const_u32(&w->m, 1)));
}

static uint32_t taken_by_exchange(struct spw *w, ir_type t, enum ir_group_op op, uint32_t sum, uint32_t d)
{
    uint32_t own = linear_id(w), at = SPW_EMIT(w, SpvOpIAdd, word_type(w), own, d);
    uint32_t there = question(w, SpvOpULessThan, at, spw_exchange_items(w));
    uint32_t other = exchanged(w, t, sum, SPW_EMIT(w, SpvOpSelect, word_type(w), there, at, own));
    return SPW_EMIT(w, SpvOpSelect, spw_part_type(w, t), there, spw_combined(w, t, op, sum, other), sum);
}

/* Numbers of two words: each work-item takes in the one so far behind it, round after round, each half as far. */
static uint32_t reduced_by_exchange(struct spw *w, ir_type t, enum ir_group_op op, uint32_t x, uint32_t first)
{
    uint32_t type = spw_part_type(w, t), word = word_type(w);
    uint32_t header = spw_id(&w->m), again = spw_id(&w->m), merge = spw_id(&w->m), test = spw_id(&w->m);
    uint32_t body = spw_id(&w->m), next = spw_id(&w->m), half = spw_id(&w->m), from = w->label;
    spw_jump(w, header);
    spw_label(w, header);
    uint32_t d = SPW_EMIT(w, SpvOpPhi, word, first, from, half, again);
    uint32_t sum = SPW_EMIT(w, SpvOpPhi, type, x, from, next, again);
    spw_loop_merge(w, merge, again);
    spw_jump(w, test);
    spw_label(w, test);
    SPW_DO(w, SpvOpBranchConditional, question(w, SpvOpINotEqual, d, spw_const_u32(&w->m, 0)), body, merge);
    spw_label(w, body);
    SPW_DO(w, SpvOpCopyObject, type, next, taken_by_exchange(w, t, op, sum, d));
    SPW_DO(w, SpvOpShiftRightLogical, word, half, d, spw_const_u32(&w->m, 1));
    spw_jump(w, again);
    spw_label(w, again);
    spw_jump(w, header);
    spw_label(w, merge);
    return exchanged(w, t, sum, spw_const_u32(&w->m, 0));
}

static void reduce_words(struct spw *w, struct spw_reduction *reductions, unsigned n_reductions)
{
    uint32_t n = spw_exchange_items(w);
    spw_reduce_by_halves(w, reductions, n_reductions, linear_id(w), n, half_of(w, n));
}

static uint32_t reduced(struct spw *w, ir_type t, enum ir_group_op op, uint32_t x)
{
    struct spw_reduction r = {t, op, x};
    if (ir_type_bits(t) > 32) return reduced_by_exchange(w, t, op, x, half_of(w, spw_exchange_items(w)));
    reduce_words(w, &r, 1);
    return r.x;
}

/* A vote is a reduction of words. */
static uint32_t voted(struct spw *w, enum ir_group_op op, uint32_t x)
{
    uint32_t one = spw_const_u32(&w->m, 1), zero = spw_const_u32(&w->m, 0);
    uint32_t r = reduced(w, IR_I32, op, SPW_EMIT(w, SpvOpSelect, word_type(w), x, one, zero));
    return question(w, SpvOpINotEqual, r, zero);
}

uint32_t spw_work_group_collective(struct spw *w, const struct ir_inst *inst, ir_type t, uint32_t x)
{
    switch (inst->op) {
    case IR_OP_GROUP_ALL: return voted(w, IR_GROUP_AND, x);
    case IR_OP_GROUP_ANY: return voted(w, IR_GROUP_OR, x);
    case IR_OP_GROUP_BROADCAST: return exchanged(w, t, x, source_of(w, inst));
    case IR_OP_GROUP_REDUCE: return reduced(w, t, inst->attrs.group_op, x);
    default: return spw_scanned(w, inst, t, x, (struct spw_scan){linear_id(w), spw_exchange_items(w), exchanged});
    }
}

/* ---- several at once ---- */

enum { TOGETHER_MOST = 4 };

static bool is_of_words(const struct ir_inst *inst)
{
    return inst->op == IR_OP_GROUP_REDUCE && inst->attrs.scope == IR_SCOPE_WORK_GROUP &&
           ir_type_lanes(inst->type) == 1 && ir_type_bits(inst->type) <= 32;
}

static bool is_known(const struct spw *w, const struct ir_value *v)
{
    return v->kind == IR_VALUE_CONST || (v->kind != IR_VALUE_UNDEF && w->ids[v->scratch]);
}

bool spw_work_group_together(struct spw *w, const struct ir_inst *first)
{
    const struct ir_inst *all[TOGETHER_MOST];
    struct spw_reduction reductions[TOGETHER_MOST];
    unsigned n = 0;
    if (!is_of_words(first)) return false;
    if (is_known(w, first->results[0])) return true;
    for (const struct ir_inst *i = first; i && !i->blocks[0] && n < TOGETHER_MOST; i = i->next)
        if (is_of_words(i) && (i == first || is_known(w, i->operands[0]))) all[n++] = i;
    for (unsigned k = 0; k < n; k++)
        reductions[k] =
            (struct spw_reduction){all[k]->type, all[k]->attrs.group_op, spw_value1(w, all[k]->operands[0])};
    reduce_words(w, reductions, n);
    for (unsigned k = 0; k < n; k++) spw_set1(w, all[k]->results[0], reductions[k].x);
    return true;
}
