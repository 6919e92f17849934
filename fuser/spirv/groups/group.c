/* Barriers, and operations of groups. */
#include "fuser/spirv/groups/group.h"

#include <spirv/unified1/spirv.h>

#include "fuser/spirv/base/scope.h"
#include "fuser/spirv/groups/kernel_group.h"
#include "fuser/spirv/groups/written_group.h"

/* Of a barrier that fences nothing work-items only wait. */
static void barrier(struct spw *w, const struct ir_inst *inst)
{
    uint32_t scope = spw_scope(w, inst->attrs.scope);
    enum ir_order order = w->vulkan ? IR_ORDER_ACQ_REL : IR_ORDER_SEQ_CST;
    uint32_t semantics = spw_semantics(w, inst->attrs.fence ? order : IR_ORDER_RELAXED, inst->attrs.fence);
    SPW_DO(w, SpvOpControlBarrier, scope, scope, semantics);
}

void spw_fence(struct spw *w, const struct ir_inst *inst)
{
    unsigned fence = inst->attrs.fence;
    if (w->vulkan && (!fence || inst->attrs.order == IR_ORDER_RELAXED)) return; /* it orders nothing */
    bool alone = w->vulkan && !map_find(&w->uniform, (uint64_t)(uintptr_t)inst);
    if (alone && !(w->target->features & SPIRV_LONE_FENCES)) return; /* atomics are ordered by themselves then */
    SPW_DO(w, SpvOpMemoryBarrier, spw_scope(w, inst->attrs.scope), spw_semantics(w, inst->attrs.order, fence));
}

void spw_group(struct spw *w, const struct ir_inst *inst)
{
    enum ir_op_class c = ir_op_class(inst->op);
    if (inst->op == IR_OP_BARRIER && (!spw_writes_groups(w) || inst->attrs.scope == IR_SCOPE_WORK_GROUP)) {
        barrier(w, inst);
    } else if (spw_writes_groups(w)) {
        spw_written_group(w, inst);
    } else if (c == IR_CLASS_SUB_GROUP_QUERY) {
        spw_set1(w, inst->results[0], spw_kernel_query(w, inst->op));
    } else if (c == IR_CLASS_SUB_GROUP) {
        spw_kernel_sub_group(w, inst);
    } else if (c == IR_CLASS_BLOCK) {
        spw_kernel_block(w, inst);
    } else if (inst->op == IR_OP_BARRIER) {
        barrier(w, inst);
    } else {
        spw_kernel_group(w, inst);
    }
}
