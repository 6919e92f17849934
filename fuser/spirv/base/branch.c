/* Blocks inside of operations. */
#include "fuser/spirv/base/branch.h"

#include <spirv/unified1/spirv.h>
#include <stddef.h>

#include "fuser/spirv/base/ids.h"

void spw_label(struct spw *w, uint32_t label)
{
    SPW_DO(w, SpvOpLabel, label);
    w->label = label;
}

void spw_jump(struct spw *w, uint32_t to)
{
    SPW_DO(w, SpvOpBranch, to);
    w->label = 0;
}

struct spw_if spw_if_begin(struct spw *w, uint32_t condition)
{
    struct spw_if i = {.other = spw_id(&w->m), .merge = spw_id(&w->m)};
    uint32_t first = spw_id(&w->m);
    SPW_DO(w, SpvOpSelectionMerge, i.merge, SpvSelectionControlMaskNone);
    SPW_DO(w, SpvOpBranchConditional, condition, first, i.other);
    spw_label(w, first);
    return i;
}

void spw_if_else(struct spw *w, struct spw_if *i, uint32_t yielded)
{
    i->labels[0] = w->label;
    i->yielded[0] = yielded;
    spw_jump(w, i->merge);
    spw_label(w, i->other);
}

uint32_t spw_if_end(struct spw *w, struct spw_if *i, uint32_t type, uint32_t yielded)
{
    i->labels[1] = w->label;
    i->yielded[1] = yielded;
    spw_jump(w, i->merge);
    spw_label(w, i->merge);
    return type ? SPW_EMIT(w, SpvOpPhi, type, i->yielded[0], i->labels[0], i->yielded[1], i->labels[1]) : 0;
}

void spw_loop_merge(struct spw *w, uint32_t merge, uint32_t again)
{
    SPW_DO(w, SpvOpLoopMerge, merge, again, SpvLoopControlMaskNone);
    w->loops = true;
}

/* ---- loops that the driver ends ---- */

static void tell_launch(struct spw *w)
{
    uint32_t word = spw_type_int(&w->m, 32, 1), wide = spw_type_int(&w->m, 64, 1);
    uint32_t offset = spw_const_u64(&w->m, offsetof(struct spirv_launch, cut_short));
    uint32_t at = SPW_EMIT(w, SpvOpIAdd, wide, spw_launch_address(w), offset);
    uint32_t pointer = spw_type_pointer(&w->m, SpvStorageClassPhysicalStorageBuffer, word);
    uint32_t place = SPW_EMIT(w, SpvOpConvertUToPtr, pointer, at);
    SPW_DO(w, SpvOpStore, place, spw_const_u32(&w->m, 1), SpvMemoryAccessAlignedMask, sizeof(uint32_t));
}

/* Who has had all the rounds that a driver gives has no second one of any other loop: so the kernel ends with a loop of
   two, which compilers do not see through. What its parameter is in the second is not what it is in the first. */
void spw_expect_whole_loops(struct spw *w)
{
    if (!w->vulkan || !w->loops || w->target->features & SPIRV_LONG_LOOPS) return;
    uint32_t word = spw_type_int(&w->m, 32, 1), truth = spw_type_bool(&w->m, 1), zero = spw_const_u32(&w->m, 0);
    uint32_t two = spw_const_u32(&w->m, 2), header = spw_id(&w->m), body = spw_id(&w->m), again = spw_id(&w->m);
    uint32_t merge = spw_id(&w->m), next = spw_id(&w->m), from = w->label;
    spw_jump(w, header);
    spw_label(w, header);
    uint32_t round = SPW_EMIT(w, SpvOpPhi, word, zero, from, next, again);
    spw_loop_merge(w, merge, again);
    spw_jump(w, body);
    spw_label(w, body);
    SPW_DO(w, SpvOpBranchConditional, SPW_EMIT(w, SpvOpINotEqual, truth, round, zero), merge, again);
    spw_label(w, again);
    SPW_DO(w, SpvOpIAdd, word, next, two, spw_unseen_zero(w, IR_KIND_I32));
    spw_jump(w, header);
    spw_label(w, merge);
    struct spw_if whole = spw_if_begin(w, SPW_EMIT(w, SpvOpIEqual, truth, round, two));
    spw_if_else(w, &whole, 0);
    tell_launch(w);
    spw_if_end(w, &whole, 0, 0);
}

/* ---- loops of operations ---- */

struct spw_rounds spw_rounds_begin(struct spw *w, uint32_t type, uint32_t n)
{
    struct spw_rounds r = {spw_id(&w->m), spw_id(&w->m), spw_id(&w->m), type, 0, spw_id(&w->m)};
    uint32_t from = w->label, test = spw_id(&w->m), body = spw_id(&w->m), zero;
    zero = type == spw_type_int(&w->m, 64, 1) ? spw_const_u64(&w->m, 0) : spw_const_u32(&w->m, 0);
    spw_jump(w, r.header);
    spw_label(w, r.header);
    r.number = SPW_EMIT(w, SpvOpPhi, type, zero, from, r.next, r.again);
    spw_loop_merge(w, r.merge, r.again);
    spw_jump(w, test);
    spw_label(w, test);
    uint32_t more = SPW_EMIT(w, SpvOpULessThan, spw_type_bool(&w->m, 1), r.number, n);
    SPW_DO(w, SpvOpBranchConditional, more, body, r.merge);
    spw_label(w, body);
    return r;
}

void spw_rounds_end(struct spw *w, const struct spw_rounds *r)
{
    spw_jump(w, r->again);
    spw_label(w, r->again);
    bool wide = r->type == spw_type_int(&w->m, 64, 1);
    uint32_t one = wide ? spw_const_u64(&w->m, 1) : spw_const_u32(&w->m, 1);
    SPW_DO(w, SpvOpIAdd, r->type, r->next, r->number, one);
    spw_jump(w, r->header);
    spw_label(w, r->merge);
}

struct spw_retry spw_retry_begin(struct spw *w)
{
    struct spw_retry r = {spw_id(&w->m), spw_id(&w->m), spw_id(&w->m)};
    uint32_t body = spw_id(&w->m);
    spw_jump(w, r.header);
    spw_label(w, r.header);
    spw_loop_merge(w, r.merge, r.again);
    spw_jump(w, body);
    spw_label(w, body);
    return r;
}

void spw_retry_until(struct spw *w, const struct spw_retry *r, uint32_t done)
{
    SPW_DO(w, SpvOpBranchConditional, done, r->merge, r->again);
    spw_label(w, r->again);
    spw_jump(w, r->header);
    spw_label(w, r->merge);
}
