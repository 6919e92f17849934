/* Scans: from one work-item to the next, in the order that sums of floats have. */
#include "fuser/spirv/groups/scan.h"

#include <spirv/unified1/spirv.h>

#include "fuser/spirv/base/branch.h"
#include "fuser/spirv/numbers/words.h"

static uint32_t question(struct spw *w, unsigned opcode, uint32_t x, uint32_t y)
{
    return SPW_EMIT(w, opcode, spw_type_bool(&w->m, 1), x, y);
}

/* Round k tells all what work-item k has, and each takes in what comes before it. */
uint32_t spw_scanned(struct spw *w, const struct ir_inst *inst, ir_type t, uint32_t x, struct spw_scan s)
{
    enum ir_group_op op = inst->attrs.group_op;
    bool inclusive = inst->op == IR_OP_GROUP_SCAN_INCL;
    uint32_t type = spw_part_type(w, t), word = spw_type_int(&w->m, 32, 1);
    uint32_t header = spw_id(&w->m), again = spw_id(&w->m), merge = spw_id(&w->m), test = spw_id(&w->m);
    uint32_t body = spw_id(&w->m), next = spw_id(&w->m), more = spw_id(&w->m), kept = spw_id(&w->m), from = w->label;
    uint32_t identity = spw_identity(w, t, op), zero = spw_const_u32(&w->m, 0);
    spw_jump(w, header);
    spw_label(w, header);
    uint32_t k = SPW_EMIT(w, SpvOpPhi, word, zero, from, next, again);
    uint32_t sum = SPW_EMIT(w, SpvOpPhi, type, identity, from, more, again);
    uint32_t r = SPW_EMIT(w, SpvOpPhi, type, identity, from, kept, again);
    spw_loop_merge(w, merge, again);
    spw_jump(w, test);
    spw_label(w, test);
    SPW_DO(w, SpvOpBranchConditional, question(w, SpvOpULessThan, k, s.n), body, merge);
    spw_label(w, body);
    uint32_t y = s.fetch(w, t, x, k), both = spw_combined(w, t, op, sum, y);
    SPW_DO(w, SpvOpSelect, type, more, question(w, SpvOpIEqual, k, zero), y, both);
    SPW_DO(w, SpvOpSelect, type, kept, question(w, SpvOpIEqual, k, s.own), inclusive ? more : sum, r);
    SPW_DO(w, SpvOpIAdd, word, next, k, spw_const_u32(&w->m, 1));
    spw_jump(w, again);
    spw_label(w, again);
    spw_jump(w, header);
    spw_label(w, merge);
    return r;
}
