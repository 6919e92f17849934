/* Scopes and memory semantics, which SPIR-V has as ids of constants. What is not constant is taken for the widest. */
#include "ir/spirv/translate/instructions/scope.h"

#include "ir/spirv/decode/constant_values.h"
#include "ir/spirv/decode/fail.h"

enum ir_scope spirv_scope(const struct spirv_body *s, uint32_t id)
{
    uint64_t scope;
    if (!spirv_constant_uint(s->r, id, &scope)) return IR_SCOPE_ALL_DEVICES;
    switch (scope) {
    case SpvScopeDevice:
    case SpvScopeQueueFamily: return IR_SCOPE_DEVICE;
    case SpvScopeWorkgroup: return IR_SCOPE_WORK_GROUP;
    case SpvScopeSubgroup: return IR_SCOPE_SUB_GROUP;
    case SpvScopeInvocation: return IR_SCOPE_WORK_ITEM;
    default: return IR_SCOPE_ALL_DEVICES;
    }
}

enum ir_order spirv_order(const struct spirv_body *s, uint32_t id)
{
    uint64_t semantics;
    if (!spirv_constant_uint(s->r, id, &semantics)) return IR_ORDER_SEQ_CST;
    if (semantics & SpvMemorySemanticsSequentiallyConsistentMask) return IR_ORDER_SEQ_CST;
    if (semantics & SpvMemorySemanticsAcquireReleaseMask) return IR_ORDER_ACQ_REL;
    if (semantics & SpvMemorySemanticsReleaseMask) return IR_ORDER_RELEASE;
    if (semantics & SpvMemorySemanticsAcquireMask) return IR_ORDER_ACQUIRE;
    return IR_ORDER_RELAXED;
}

uint8_t spirv_fence(const struct spirv_body *s, uint32_t id)
{
    uint64_t semantics;
    if (!spirv_constant_uint(s->r, id, &semantics)) return IR_FENCE_LOCAL | IR_FENCE_GLOBAL | IR_FENCE_IMAGE;
    uint8_t fence = 0;
    if (semantics & SpvMemorySemanticsWorkgroupMemoryMask) fence |= IR_FENCE_LOCAL;
    if (semantics & SpvMemorySemanticsCrossWorkgroupMemoryMask) fence |= IR_FENCE_GLOBAL;
    if (semantics & SpvMemorySemanticsImageMemoryMask) fence |= IR_FENCE_IMAGE;
    return fence;
}

enum ir_scope spirv_group_scope(struct spirv_body *s, const struct spirv_inst *i, uint32_t id)
{
    enum ir_scope scope = spirv_scope(s, id);
    if (scope != IR_SCOPE_WORK_GROUP && scope != IR_SCOPE_SUB_GROUP)
        spirv_fail(s->r, i, "has a scope of execution that is neither a work-group nor a sub-group");
    return scope;
}
