/* Operations of groups in the kernel dialect: OpGroup..., SPV_INTEL_subgroups, and OpGroupNonUniform... where neither
   has it. */
#include "fuser/spirv/groups/kernel_group.h"

#include <spirv/unified1/spirv.h>

#include "fuser/spirv/base/builtin.h"
#include "fuser/spirv/base/ids.h"
#include "fuser/spirv/base/scope.h"
#include "fuser/spirv/memory/kernel_memory.h"

/* ---- all of a group ---- */

static const uint16_t int_reductions[IR_GROUP_OP_COUNT] = {
    [IR_GROUP_ADD] = SpvOpGroupIAdd,          [IR_GROUP_MUL] = SpvOpGroupIMulKHR,
    [IR_GROUP_SMIN] = SpvOpGroupSMin,         [IR_GROUP_UMIN] = SpvOpGroupUMin,
    [IR_GROUP_SMAX] = SpvOpGroupSMax,         [IR_GROUP_UMAX] = SpvOpGroupUMax,
    [IR_GROUP_AND] = SpvOpGroupBitwiseAndKHR, [IR_GROUP_OR] = SpvOpGroupBitwiseOrKHR,
    [IR_GROUP_XOR] = SpvOpGroupBitwiseXorKHR,
};
static const uint16_t float_reductions[IR_GROUP_OP_COUNT] = {
    [IR_GROUP_ADD] = SpvOpGroupFAdd,
    [IR_GROUP_MUL] = SpvOpGroupFMulKHR,
    [IR_GROUP_SMIN] = SpvOpGroupFMin,
    [IR_GROUP_SMAX] = SpvOpGroupFMax,
};

static void ask_for_groups(struct spw *w, unsigned opcode)
{
    spw_capability(&w->m, SpvCapabilityGroups);
    if (opcode < SpvOpGroupIMulKHR) return;
    spw_capability(&w->m, SpvCapabilityGroupUniformArithmeticKHR);
    spw_extension(&w->m, "SPV_KHR_uniform_group_instructions");
}

static uint32_t reduced(struct spw *w, const struct ir_inst *inst)
{
    uint32_t operation = inst->op == IR_OP_GROUP_REDUCE      ? SpvGroupOperationReduce
                         : inst->op == IR_OP_GROUP_SCAN_INCL ? SpvGroupOperationInclusiveScan
                                                             : SpvGroupOperationExclusiveScan;
    const uint16_t *table = ir_type_is_float(inst->type) ? float_reductions : int_reductions;
    unsigned opcode = table[inst->attrs.group_op];
    ask_for_groups(w, opcode);
    return SPW_EMIT(w, opcode, spw_part_type(w, inst->type), spw_scope(w, inst->attrs.scope), operation,
                    spw_value1(w, inst->operands[0]));
}

/* The id is a number, or a vector of several. */
static uint32_t broadcast(struct spw *w, const struct ir_inst *inst)
{
    uint32_t ids[3], n = inst->n_operands - 1, wide = spw_type_int(&w->m, 64, 1);
    for (uint32_t i = 0; i < n; i++) {
        const struct ir_value *id = inst->operands[1 + i];
        ids[i] = spw_value1(w, id);
        if (n > 1 && ir_type_bits(id->type) != 64) ids[i] = SPW_EMIT(w, SpvOpUConvert, wide, ids[i]);
    }
    uint32_t id = n == 1 ? ids[0] : spw_construct(w, spw_type_int(&w->m, 64, n), ids, n);
    ask_for_groups(w, SpvOpGroupBroadcast);
    return SPW_EMIT(w, SpvOpGroupBroadcast, spw_part_type(w, inst->type), spw_scope(w, inst->attrs.scope),
                    spw_value1(w, inst->operands[0]), id);
}

void spw_kernel_group(struct spw *w, const struct ir_inst *inst)
{
    uint32_t r;
    switch (inst->op) {
    case IR_OP_GROUP_ALL:
    case IR_OP_GROUP_ANY:
        ask_for_groups(w, SpvOpGroupAll);
        r = SPW_EMIT(w, inst->op == IR_OP_GROUP_ALL ? SpvOpGroupAll : SpvOpGroupAny, spw_type_bool(&w->m, 1),
                     spw_scope(w, inst->attrs.scope), spw_value1(w, inst->operands[0]));
        break;
    case IR_OP_GROUP_BROADCAST: r = broadcast(w, inst); break;
    default: r = reduced(w, inst); break;
    }
    spw_set1(w, inst->results[0], r);
}

/* ---- queries ---- */

uint32_t spw_kernel_query(struct spw *w, enum ir_op op)
{
    uint32_t word = spw_type_int(&w->m, 32, 1), builtin;
    switch (op) {
    case IR_OP_SUB_GROUP_SIZE: builtin = SpvBuiltInSubgroupSize; break;
    case IR_OP_SUB_GROUP_MAX_SIZE: builtin = SpvBuiltInSubgroupMaxSize; break;
    case IR_OP_NUM_SUB_GROUPS: builtin = SpvBuiltInNumSubgroups; break;
    case IR_OP_ENQUEUED_NUM_SUB_GROUPS: builtin = SpvBuiltInNumEnqueuedSubgroups; break;
    case IR_OP_SUB_GROUP_ID: builtin = SpvBuiltInSubgroupId; break;
    default: builtin = SpvBuiltInSubgroupLocalInvocationId; break;
    }
    return spw_builtin(w, builtin, word);
}

/* ---- those that are there ---- */

static void need_version(struct spw *w, uint32_t version)
{
    if (w->m.version < version) w->m.version = version;
}

static uint32_t non_uniform(struct spw *w, unsigned opcode, uint32_t capability, uint32_t type,
                            const struct ir_inst *inst)
{
    uint32_t operands[4] = {spw_scope(w, IR_SCOPE_SUB_GROUP)};
    for (uint32_t i = 0; i < inst->n_operands; i++) operands[1 + i] = spw_value1(w, inst->operands[i]);
    spw_capability(&w->m, capability);
    spw_capability(&w->m, SpvCapabilityGroupNonUniform);
    need_version(w, 0x00010300);
    return spw_emit_n(w, opcode, type, operands, 1 + inst->n_operands);
}

/* What shuffles cannot move goes as a number: bools as bytes, pointers as addresses. */
static ir_type moved_type(ir_type scalar)
{
    return ir_type_is_ptr(scalar) ? IR_I64 : ir_type_is_bool(scalar) ? IR_I8 : scalar;
}

static uint32_t as_number(struct spw *w, ir_type scalar, uint32_t x)
{
    uint32_t type = spw_part_type(w, moved_type(scalar));
    if (ir_type_is_ptr(scalar)) return SPW_EMIT(w, SpvOpConvertPtrToU, type, x);
    if (!ir_type_is_bool(scalar)) return x;
    return SPW_EMIT(w, SpvOpSelect, type, x, spw_const_number(&w->m, IR_KIND_I8, 1, 1),
                    spw_const_number(&w->m, IR_KIND_I8, 1, 0));
}

static uint32_t from_number(struct spw *w, ir_type scalar, uint32_t x)
{
    if (ir_type_is_ptr(scalar)) return SPW_EMIT(w, SpvOpConvertUToPtr, spw_part_type(w, scalar), x);
    if (!ir_type_is_bool(scalar)) return x;
    return SPW_EMIT(w, SpvOpINotEqual, spw_part_type(w, scalar), x, spw_const_number(&w->m, IR_KIND_I8, 1, 0));
}

/* The last operand of the shuffle: a work-item, a mask or a distance. A rotation is a shuffle here, since Intel's
   compiler has no instruction for it. */
static uint32_t whence(struct spw *w, const struct ir_inst *inst)
{
    uint32_t by = spw_value1(w, inst->operands[inst->n_operands - 1]), word = spw_type_int(&w->m, 32, 1);
    if (inst->op != IR_OP_SUB_GROUP_ROTATE) return by;
    uint32_t id = spw_kernel_query(w, IR_OP_SUB_GROUP_LOCAL_ID), size = spw_kernel_query(w, IR_OP_SUB_GROUP_SIZE);
    return SPW_EMIT(w, SpvOpUMod, word, SPW_EMIT(w, SpvOpIAdd, word, id, by), size);
}

/* Number by number: Intel's compiler shuffles few vectors. */
static void shuffle(struct spw *w, const struct ir_inst *inst)
{
    bool shift = inst->op == IR_OP_SUB_GROUP_SHUFFLE_UP || inst->op == IR_OP_SUB_GROUP_SHUFFLE_DOWN;
    unsigned opcode = inst->op == IR_OP_SUB_GROUP_SHUFFLE_XOR    ? SpvOpSubgroupShuffleXorINTEL
                      : inst->op == IR_OP_SUB_GROUP_SHUFFLE_UP   ? SpvOpSubgroupShuffleUpINTEL
                      : inst->op == IR_OP_SUB_GROUP_SHUFFLE_DOWN ? SpvOpSubgroupShuffleDownINTEL
                                                                 : SpvOpSubgroupShuffleINTEL;
    ir_type scalar = ir_type_element(inst->type);
    uint32_t scalars[IR_MAX_LANES], parts[IR_MAX_LANES], operands[3], n;
    uint32_t type = spw_part_type(w, moved_type(scalar)), from = whence(w, inst);
    spw_capability(&w->m, SpvCapabilitySubgroupShuffleINTEL);
    spw_extension(&w->m, "SPV_INTEL_subgroups");
    for (unsigned lane = 0; lane < ir_type_lanes(inst->type); lane++) {
        for (n = 0; n < 1u + shift; n++) operands[n] = as_number(w, scalar, spw_lane(w, inst->operands[n], lane));
        operands[n++] = from;
        scalars[lane] = from_number(w, scalar, spw_emit_n(w, opcode, type, operands, n));
    }
    spw_join(w, inst->type, scalars, parts);
    spw_set(w, inst->results[0], parts);
}

void spw_kernel_sub_group(struct spw *w, const struct ir_inst *inst)
{
    uint32_t truth = spw_type_bool(&w->m, 1), r;
    switch (inst->op) {
    case IR_OP_SUB_GROUP_ELECT:
        r = non_uniform(w, SpvOpGroupNonUniformElect, SpvCapabilityGroupNonUniform, truth, inst);
        break;
    case IR_OP_SUB_GROUP_BALLOT:
        r = non_uniform(w, SpvOpGroupNonUniformBallot, SpvCapabilityGroupNonUniformBallot, spw_type_int(&w->m, 32, 4),
                        inst);
        break;
    case IR_OP_SUB_GROUP_ALL_EQUAL:
        r = non_uniform(w, SpvOpGroupNonUniformAllEqual, SpvCapabilityGroupNonUniformVote, truth, inst);
        break;
    default: shuffle(w, inst); return;
    }
    spw_set1(w, inst->results[0], r);
}

/* ---- block reads and writes ---- */

static void image_block(struct spw *w)
{
    spw_fail(w, "cannot be written: SPIR-V here has no images");
}

void spw_kernel_block(struct spw *w, const struct ir_inst *inst)
{
    if (inst->op == IR_OP_IMAGE_BLOCK_READ || inst->op == IR_OP_IMAGE_BLOCK_WRITE) {
        image_block(w);
        return;
    }
    const struct ir_value *p = inst->operands[0];
    uint32_t element = spw_part_type(w, ir_type_element(inst->type));
    uint32_t place = spw_kernel_pointer(w, element, ir_type_space(p->type), spw_value1(w, p));
    spw_capability(&w->m, SpvCapabilitySubgroupBufferBlockIOINTEL);
    spw_extension(&w->m, "SPV_INTEL_subgroups");
    if (inst->op == IR_OP_BLOCK_READ)
        spw_set1(w, inst->results[0], SPW_EMIT(w, SpvOpSubgroupBlockReadINTEL, spw_part_type(w, inst->type), place));
    else
        SPW_DO(w, SpvOpSubgroupBlockWriteINTEL, place, spw_value1(w, inst->operands[1]));
}
