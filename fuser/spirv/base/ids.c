/* Where a work-item is; in Vulkan computed from what the launch says. */
#include "fuser/spirv/base/ids.h"

#include <spirv/unified1/spirv.h>
#include <stddef.h>

#include "fuser/spirv/base/builtin.h"
#include "fuser/spirv/base/kernel_ids.h"
#include "fuser/spirv/base/uniform.h"

/* ---- Vulkan: the launch ---- */

enum { MEMBERS = 5 }; /* of struct spirv_push: the address, four words */

static uint32_t push_constants(struct spw *w)
{
    uint32_t wide = spw_type_int(&w->m, 64, 1), word = spw_type_int(&w->m, 32, 1);
    uint32_t members[MEMBERS] = {wide, word, word, word, word};
    size_t before = w->m.bound;
    uint32_t block = spw_once(&w->m, SPW_GLOBALS, SpvOpTypeStruct, 0, members, MEMBERS);
    uint32_t pointer = spw_type_pointer(&w->m, SpvStorageClassPushConstant, block);
    uint32_t storage = SpvStorageClassPushConstant;
    uint32_t variable = spw_once(&w->m, SPW_GLOBALS, SpvOpVariable, pointer, &storage, 1);
    if (variable < before) return variable;
    spw_decorate(&w->m, block, SpvDecorationBlock, NULL, 0);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        uint32_t offset = i ? 4 + 4 * i : 0;
        SPW_PUT(&w->m.sections[SPW_ANNOTATIONS], SpvOpMemberDecorate, block, i, SpvDecorationOffset, offset);
    }
    spw_append(&w->interface, &variable, 1);
    return variable;
}

static uint32_t push_constant(struct spw *w, unsigned member, uint32_t type)
{
    uint32_t variable = push_constants(w), pointer = spw_type_pointer(&w->m, SpvStorageClassPushConstant, type);
    uint32_t at[2] = {variable, spw_const_u32(&w->m, member)};
    uint32_t place = spw_once(&w->m, SPW_PROLOGUE, SpvOpAccessChain, pointer, at, 2);
    return spw_once(&w->m, SPW_PROLOGUE, SpvOpLoad, type, &place, 1);
}

uint32_t spw_launch_address(struct spw *w)
{
    return push_constant(w, 0, spw_type_int(&w->m, 64, 1));
}

uint32_t spw_unseen_zero(struct spw *w, enum ir_kind kind)
{
    uint32_t zero = push_constant(w, MEMBERS - 1, spw_type_int(&w->m, 32, 1)), type = spw_number_type(w, kind, 1);
    return kind == IR_KIND_I32 ? zero : spw_once(&w->m, SPW_PROLOGUE, SpvOpUConvert, type, &zero, 1);
}

uint32_t spw_launch_number(struct spw *w, enum ir_kind kind, uint32_t offset)
{
    uint32_t wide = spw_type_int(&w->m, 64, 1), type = spw_number_type(w, kind, 1);
    unsigned bits = spw_bits(kind);
    if (bits >= 32 && offset % (bits / 8) == 0 && offset + bits / 8 <= SPIRV_UNIFORM_BYTES) {
        uint32_t number = spw_uniform(w, bits, offset);
        bool is_int = type == spw_type_int(&w->m, bits, 1);
        return is_int ? number : spw_once(&w->m, SPW_PROLOGUE, SpvOpBitcast, type, &number, 1);
    }
    uint32_t at[2] = {spw_launch_address(w), spw_const_u64(&w->m, offset)};
    uint32_t address = spw_once(&w->m, SPW_PROLOGUE, SpvOpIAdd, wide, at, 2);
    uint32_t pointer = spw_type_pointer(&w->m, SpvStorageClassPhysicalStorageBuffer, type);
    uint32_t place = spw_once(&w->m, SPW_PROLOGUE, SpvOpConvertUToPtr, pointer, &address, 1);
    uint32_t operands[3] = {place, SpvMemoryAccessAlignedMask, spw_bits(kind) / 8};
    return spw_once(&w->m, SPW_PROLOGUE, SpvOpLoad, type, operands, 3);
}

static uint32_t launch_size(struct spw *w, size_t offset, unsigned dim)
{
    return spw_launch_number(w, IR_KIND_I64, (uint32_t)(offset + 8 * dim));
}

/* A specialization constant with its default. */
static uint32_t special(struct spw *w, enum spirv_spec which, uint32_t value)
{
    uint32_t id = spw_id(&w->m), number = which;
    SPW_PUT(&w->m.sections[SPW_GLOBALS], SpvOpSpecConstant, spw_type_int(&w->m, 32, 1), id, value);
    spw_decorate(&w->m, id, SpvDecorationSpecId, &number, 1);
    return id;
}

uint32_t spw_group_size(struct spw *w, unsigned dim)
{
    uint32_t size = w->kernel->work_group_size[dim];
    if (!w->group_size[dim]) w->group_size[dim] = special(w, SPIRV_SPEC_SIZE_X + dim, size ? size : 1);
    return w->group_size[dim];
}

uint32_t spw_group_items(struct spw *w)
{
    uint32_t n = spw_group_size(w, 0);
    for (unsigned d = 1; d < 3; d++) {
        uint32_t product[3] = {SpvOpIMul, n, spw_group_size(w, d)};
        n = spw_once(&w->m, SPW_GLOBALS, SpvOpSpecConstantOp, spw_type_int(&w->m, 32, 1), product, 3);
    }
    return n;
}

/* Where sub-groups count, all work-items are in one row: drivers may begin a sub-group with each row. */
void spw_declare_group_size(struct spw *w)
{
    uint32_t sizes[3], type = spw_type_int(&w->m, 32, 3), one = spw_const_u32(&w->m, 1);
    for (unsigned d = 0; d < 3; d++) sizes[d] = !w->sub_group ? spw_group_size(w, d) : d ? one : spw_group_items(w);
    uint32_t all = spw_once(&w->m, SPW_GLOBALS, SpvOpSpecConstantComposite, type, sizes, 3);
    uint32_t builtin = SpvBuiltInWorkgroupSize;
    spw_decorate(&w->m, all, SpvDecorationBuiltIn, &builtin, 1);
}

/* ---- Vulkan: ids ---- */

uint32_t spw_linear_in_sub_groups(struct spw *w)
{
    uint32_t type = spw_type_int(&w->m, 32, 1), index = w->vulkan ? 0 : spw_id_of(w, IR_OP_LOCAL_LINEAR_ID, 0);
    if (!w->vulkan) return spw_once(&w->m, SPW_PROLOGUE, SpvOpUConvert, type, &index, 1);
    spw_capability(&w->m, SpvCapabilityGroupNonUniform);
    uint32_t number[2] = {spw_builtin(w, SpvBuiltInSubgroupId, type), spw_const_u32(&w->m, w->device_sub_group)};
    uint32_t first = spw_once(&w->m, SPW_PROLOGUE, SpvOpIMul, type, number, 2);
    uint32_t sum[2] = {first, spw_builtin(w, SpvBuiltInSubgroupLocalInvocationId, type)};
    return spw_once(&w->m, SPW_PROLOGUE, SpvOpIAdd, type, sum, 2);
}

/* From the id that sub-groups are cut from, where the kernel sees them. */
static uint32_t derived_local_id(struct spw *w, unsigned dim)
{
    uint32_t type = spw_type_int(&w->m, 32, 1), id = spw_linear_in_sub_groups(w);
    uint32_t x[2] = {id, spw_group_size(w, 0)};
    if (dim == 0) return spw_once(&w->m, SPW_PROLOGUE, SpvOpUMod, type, x, 2);
    uint32_t y[2] = {spw_once(&w->m, SPW_PROLOGUE, SpvOpUDiv, type, x, 2), spw_group_size(w, 1)};
    return spw_once(&w->m, SPW_PROLOGUE, dim == 1 ? SpvOpUMod : SpvOpUDiv, type, y, 2);
}

/* Of 32 bits, as group sizes and ids in them are. */
static uint32_t local_id(struct spw *w, unsigned dim)
{
    if (w->sub_group) return derived_local_id(w, dim);
    return spw_builtin_part(w, SpvBuiltInLocalInvocationId, 32, dim);
}

static uint32_t group_id(struct spw *w, unsigned dim)
{
    uint32_t base = push_constant(w, 1 + dim, spw_type_int(&w->m, 32, 1));
    return spw_id_pair(w, SpvOpIAdd, 32, spw_builtin_part(w, SpvBuiltInWorkgroupId, 32, dim), base);
}

/* Of a complete work-group; small, so that drivers multiply by it in one instruction, and where all are as large they
   know it. */
static uint32_t complete_size(struct spw *w, unsigned dim)
{
    if (!w->out->whole_groups) return spw_group_size(w, dim);
    return spw_launch_number(w, IR_KIND_I32, (uint32_t)(offsetof(struct spirv_launch, local_size) + 8 * dim));
}

static uint32_t group_start(struct spw *w, unsigned dim)
{
    uint32_t size = spw_id_of(w, IR_OP_ENQUEUED_LOCAL_SIZE, dim);
    return spw_id_pair(w, SpvOpIMul, 64, spw_id_widened(w, group_id(w, dim)), size);
}

/* Without the offset. */
static uint32_t place_in_range(struct spw *w, unsigned dim)
{
    return spw_id_pair(w, SpvOpIAdd, 64, group_start(w, dim), spw_id_widened(w, local_id(w, dim)));
}

static uint32_t local_size(struct spw *w, unsigned dim)
{
    uint32_t all = spw_id_of(w, IR_OP_GLOBAL_SIZE, dim), size = spw_id_of(w, IR_OP_ENQUEUED_LOCAL_SIZE, dim);
    uint32_t rest = spw_id_pair(w, SpvOpISub, 64, all, group_start(w, dim)), type = spw_type_int(&w->m, 64, 1);
    uint32_t operands[3] = {
        spw_once(&w->m, SPW_PROLOGUE, SpvOpULessThan, spw_type_bool(&w->m, 1), (uint32_t[]){rest, size}, 2), rest,
        size};
    return spw_once(&w->m, SPW_PROLOGUE, SpvOpSelect, type, operands, 3);
}

static uint32_t linear_id(struct spw *w, bool global)
{
    uint32_t ids[3], sizes[2];
    for (unsigned d = 0; d < 3; d++) ids[d] = global ? place_in_range(w, d) : spw_id_widened(w, local_id(w, d));
    for (unsigned d = 0; d < 2; d++) sizes[d] = spw_id_of(w, global ? IR_OP_GLOBAL_SIZE : IR_OP_LOCAL_SIZE, d);
    return spw_id_linear(w, ids, sizes);
}

static uint32_t vulkan_id(struct spw *w, enum ir_op op, unsigned dim)
{
    switch (op) {
    case IR_OP_GLOBAL_ID:
        return spw_id_pair(w, SpvOpIAdd, 64, place_in_range(w, dim), spw_id_of(w, IR_OP_GLOBAL_OFFSET, dim));
    case IR_OP_LOCAL_ID: return spw_id_widened(w, local_id(w, dim));
    case IR_OP_GROUP_ID: return spw_id_widened(w, group_id(w, dim));
    case IR_OP_GLOBAL_SIZE: return launch_size(w, offsetof(struct spirv_launch, global_size), dim);
    case IR_OP_LOCAL_SIZE: return local_size(w, dim);
    case IR_OP_ENQUEUED_LOCAL_SIZE: return spw_id_widened(w, complete_size(w, dim));
    case IR_OP_NUM_GROUPS: return launch_size(w, offsetof(struct spirv_launch, num_groups), dim);
    case IR_OP_GLOBAL_OFFSET: return launch_size(w, offsetof(struct spirv_launch, global_offset), dim);
    case IR_OP_WORK_DIM: return spw_launch_number(w, IR_KIND_I32, offsetof(struct spirv_launch, dims));
    case IR_OP_GLOBAL_LINEAR_ID: return linear_id(w, true);
    default: return linear_id(w, false);
    }
}

uint32_t spw_items(struct spw *w)
{
    return special(w, SPIRV_SPEC_ITEMS, 1);
}

/* Is the dispatch said to have no surplus work-items in this dimension? */
static uint32_t is_even(struct spw *w, unsigned dim)
{
    uint32_t word = spw_type_int(&w->m, 32, 1), truth = spw_type_bool(&w->m, 1);
    if (!w->surplus) w->surplus = special(w, SPIRV_SPEC_SURPLUS, 7);
    uint32_t bit[3] = {SpvOpBitwiseAnd, w->surplus, spw_const_u32(&w->m, 1u << dim)};
    uint32_t none[3] = {SpvOpIEqual, spw_once(&w->m, SPW_GLOBALS, SpvOpSpecConstantOp, word, bit, 3),
                        spw_const_u32(&w->m, 0)};
    return spw_once(&w->m, SPW_GLOBALS, SpvOpSpecConstantOp, truth, none, 3);
}

uint32_t spw_inside_range(struct spw *w)
{
    uint32_t type = spw_type_bool(&w->m, 1), inside = 0;
    for (unsigned d = w->out->items > 1; d < 3; d++) {
        uint32_t operands[2] = {place_in_range(w, d), spw_id_of(w, IR_OP_GLOBAL_SIZE, d)};
        uint32_t either[2] = {is_even(w, d), spw_once(&w->m, SPW_PROLOGUE, SpvOpULessThan, type, operands, 2)};
        uint32_t here = spw_once(&w->m, SPW_PROLOGUE, SpvOpLogicalOr, type, either, 2);
        uint32_t both[2] = {inside, here};
        inside = inside ? spw_once(&w->m, SPW_PROLOGUE, SpvOpLogicalAnd, type, both, 2) : here;
    }
    return inside;
}

uint32_t spw_id_of(struct spw *w, enum ir_op op, unsigned dim)
{
    return w->vulkan ? vulkan_id(w, op, dim) : spw_kernel_id(w, op, dim);
}
