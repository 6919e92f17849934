/* Kernel dialect: where a work-item is. Built-in variables say so, but where a launch is several of the driver's, of
   which each knows of itself only: then what is said of the whole launch is read from its block. */
#include "fuser/spirv/base/kernel_ids.h"

#include <spirv/unified1/spirv.h>
#include <stddef.h>

#include "fuser/spirv/base/builtin.h"

static uint32_t builtin_id(struct spw *w, enum ir_op op, unsigned dim)
{
    uint32_t word = spw_type_int(&w->m, 32, 1), wide = spw_type_int(&w->m, 64, 1);
    switch (op) {
    case IR_OP_GLOBAL_ID: return spw_builtin_part(w, SpvBuiltInGlobalInvocationId, 64, dim);
    case IR_OP_LOCAL_ID: return spw_builtin_part(w, SpvBuiltInLocalInvocationId, 64, dim);
    case IR_OP_GROUP_ID: return spw_builtin_part(w, SpvBuiltInWorkgroupId, 64, dim);
    case IR_OP_GLOBAL_SIZE: return spw_builtin_part(w, SpvBuiltInGlobalSize, 64, dim);
    case IR_OP_LOCAL_SIZE: return spw_builtin_part(w, SpvBuiltInWorkgroupSize, 64, dim);
    case IR_OP_ENQUEUED_LOCAL_SIZE: return spw_builtin_part(w, SpvBuiltInEnqueuedWorkgroupSize, 64, dim);
    case IR_OP_NUM_GROUPS: return spw_builtin_part(w, SpvBuiltInNumWorkgroups, 64, dim);
    case IR_OP_GLOBAL_OFFSET: return spw_builtin_part(w, SpvBuiltInGlobalOffset, 64, dim);
    case IR_OP_WORK_DIM: return spw_builtin(w, SpvBuiltInWorkDim, word);
    case IR_OP_GLOBAL_LINEAR_ID: return spw_builtin(w, SpvBuiltInGlobalLinearId, wide);
    default: return spw_builtin(w, SpvBuiltInLocalInvocationIndex, wide);
    }
}

/* ---- the block ---- */

bool spw_has_block(const struct spw *w)
{
    return !w->vulkan && w->target->features & SPIRV_LAUNCH_BLOCK;
}

bool spw_has_parameters(const struct spw *w)
{
    return !w->vulkan && !spw_has_block(w);
}

uint32_t spw_block_param_type(struct spw *w, enum spirv_kernel_parameter i)
{
    if (i >= SPIRV_KERNEL_BASE_X) return spw_type_int(&w->m, 32, 1);
    return spw_part_type(w, IR_PTR(i == SPIRV_KERNEL_BLOCK ? IR_SPACE_CONSTANT : IR_SPACE_LOCAL));
}

void spw_block_params(struct spw *w)
{
    static const char *const names[] = {"launch", "local", "base_x", "base_y", "base_z"};
    for (unsigned i = 0; i < SPIRV_KERNEL_PARAMETERS; i++) {
        w->params[i] = spw_id(&w->m);
        SPW_PUT(&w->m.sections[SPW_HEAD], SpvOpFunctionParameter, spw_block_param_type(w, i), w->params[i]);
        spw_name(w, w->params[i], names[i]);
    }
}

static uint32_t once(struct spw *w, unsigned opcode, uint32_t type, const uint32_t *operands, size_t n)
{
    return spw_once(&w->m, SPW_PROLOGUE, opcode, type, operands, n);
}

uint32_t spw_block_pointer(struct spw *w, uint32_t offset)
{
    uint32_t at[2] = {w->params[SPIRV_KERNEL_BLOCK], spw_const_u64(&w->m, offset)};
    return offset ? once(w, SpvOpPtrAccessChain, spw_part_type(w, IR_PTR(IR_SPACE_CONSTANT)), at, 2) : at[0];
}

static uint32_t block_number(struct spw *w, unsigned bits, size_t offset)
{
    uint32_t type = spw_type_int(&w->m, bits, 1), bytes = spw_block_pointer(w, (uint32_t)offset);
    uint32_t pointer = spw_type_pointer(&w->m, SpvStorageClassUniformConstant, type);
    uint32_t load[3] = {once(w, SpvOpBitcast, pointer, &bytes, 1), SpvMemoryAccessAlignedMask, bits / 8};
    return once(w, SpvOpLoad, type, load, 3);
}

static uint32_t launch_size(struct spw *w, size_t offset, unsigned dim)
{
    return block_number(w, 64, offset + 8 * (size_t)dim);
}

static uint32_t group_id(struct spw *w, unsigned dim)
{
    uint32_t base = spw_id_widened(w, w->params[SPIRV_KERNEL_BASE_X + dim]);
    return spw_id_pair(w, SpvOpIAdd, 64, spw_builtin_part(w, SpvBuiltInWorkgroupId, 64, dim), base);
}

/* Without the offset. */
static uint32_t place_in_range(struct spw *w, unsigned dim)
{
    uint32_t size = spw_kernel_id(w, IR_OP_ENQUEUED_LOCAL_SIZE, dim);
    uint32_t start = spw_id_pair(w, SpvOpIMul, 64, group_id(w, dim), size);
    return spw_id_pair(w, SpvOpIAdd, 64, start, spw_builtin_part(w, SpvBuiltInLocalInvocationId, 64, dim));
}

static uint32_t global_linear_id(struct spw *w)
{
    uint32_t ids[3], sizes[2];
    for (unsigned d = 0; d < 3; d++) ids[d] = place_in_range(w, d);
    for (unsigned d = 0; d < 2; d++) sizes[d] = spw_kernel_id(w, IR_OP_GLOBAL_SIZE, d);
    return spw_id_linear(w, ids, sizes);
}

static uint32_t told_id(struct spw *w, enum ir_op op, unsigned dim)
{
    switch (op) {
    case IR_OP_GLOBAL_ID:
        return spw_id_pair(w, SpvOpIAdd, 64, place_in_range(w, dim), spw_kernel_id(w, IR_OP_GLOBAL_OFFSET, dim));
    case IR_OP_GROUP_ID: return group_id(w, dim);
    case IR_OP_GLOBAL_SIZE: return launch_size(w, offsetof(struct spirv_launch, global_size), dim);
    case IR_OP_ENQUEUED_LOCAL_SIZE: return launch_size(w, offsetof(struct spirv_launch, local_size), dim);
    case IR_OP_NUM_GROUPS: return launch_size(w, offsetof(struct spirv_launch, num_groups), dim);
    case IR_OP_GLOBAL_OFFSET: return launch_size(w, offsetof(struct spirv_launch, global_offset), dim);
    case IR_OP_WORK_DIM: return block_number(w, 32, offsetof(struct spirv_launch, dims));
    case IR_OP_GLOBAL_LINEAR_ID: return global_linear_id(w);
    default: return builtin_id(w, op, dim); /* within the work-group */
    }
}

uint32_t spw_kernel_id(struct spw *w, enum ir_op op, unsigned dim)
{
    return spw_has_block(w) ? told_id(w, op, dim) : builtin_id(w, op, dim);
}
