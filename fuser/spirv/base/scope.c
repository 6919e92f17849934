/* Scopes and memory semantics. Vulkan has no sequential consistency; there what is written is made available and what
   is read visible by the same operations. */
#include "fuser/spirv/base/scope.h"

#include <spirv/unified1/spirv.h>

uint32_t spw_scope(struct spw *w, enum ir_scope scope)
{
    switch (scope) {
    case IR_SCOPE_WORK_ITEM: return spw_const_u32(&w->m, SpvScopeInvocation);
    case IR_SCOPE_SUB_GROUP: return spw_const_u32(&w->m, SpvScopeSubgroup);
    case IR_SCOPE_WORK_GROUP: return spw_const_u32(&w->m, SpvScopeWorkgroup);
    case IR_SCOPE_DEVICE: break;
    default:
        if (!w->vulkan) return spw_const_u32(&w->m, SpvScopeCrossDevice);
    }
    if (w->vulkan) spw_capability(&w->m, SpvCapabilityVulkanMemoryModelDeviceScope);
    return spw_const_u32(&w->m, SpvScopeDevice);
}

static uint32_t memory_of(const struct spw *w, unsigned fence)
{
    uint32_t global = w->vulkan ? SpvMemorySemanticsUniformMemoryMask : SpvMemorySemanticsCrossWorkgroupMemoryMask;
    return (fence & IR_FENCE_LOCAL ? (uint32_t)SpvMemorySemanticsWorkgroupMemoryMask : 0) |
           (fence & IR_FENCE_GLOBAL ? global : 0) |
           (fence & IR_FENCE_IMAGE ? (uint32_t)SpvMemorySemanticsImageMemoryMask : 0);
}

uint32_t spw_semantics(struct spw *w, enum ir_order order, unsigned fence)
{
    static const uint32_t orders[IR_ORDER_COUNT] = {
        [IR_ORDER_ACQUIRE] = SpvMemorySemanticsAcquireMask,
        [IR_ORDER_RELEASE] = SpvMemorySemanticsReleaseMask,
        [IR_ORDER_ACQ_REL] = SpvMemorySemanticsAcquireReleaseMask,
        [IR_ORDER_SEQ_CST] = SpvMemorySemanticsSequentiallyConsistentMask,
    };
    uint32_t semantics = orders[order];
    if (w->vulkan && order == IR_ORDER_SEQ_CST) semantics = SpvMemorySemanticsAcquireReleaseMask;
    if (w->vulkan && (!semantics || !fence)) return spw_const_u32(&w->m, 0);
    semantics |= memory_of(w, fence);
    if (w->vulkan && order != IR_ORDER_ACQUIRE) semantics |= SpvMemorySemanticsMakeAvailableMask;
    if (w->vulkan && order != IR_ORDER_RELEASE) semantics |= SpvMemorySemanticsMakeVisibleMask;
    return spw_const_u32(&w->m, semantics);
}
