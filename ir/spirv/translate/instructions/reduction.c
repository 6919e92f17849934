/* The table of reductions. */
#include "ir/spirv/translate/instructions/reduction.h"

#include <spirv/unified1/spirv.h>
#include <stddef.h>

#include "ir/core/ir.h"

static const struct reduction reductions[] = {
    {SpvOpGroupIAdd, SpvOpGroupNonUniformIAdd, IR_GROUP_ADD},
    {SpvOpGroupFAdd, SpvOpGroupNonUniformFAdd, IR_GROUP_ADD},
    {SpvOpGroupFMin, SpvOpGroupNonUniformFMin, IR_GROUP_SMIN},
    {SpvOpGroupUMin, SpvOpGroupNonUniformUMin, IR_GROUP_UMIN},
    {SpvOpGroupSMin, SpvOpGroupNonUniformSMin, IR_GROUP_SMIN},
    {SpvOpGroupFMax, SpvOpGroupNonUniformFMax, IR_GROUP_SMAX},
    {SpvOpGroupUMax, SpvOpGroupNonUniformUMax, IR_GROUP_UMAX},
    {SpvOpGroupSMax, SpvOpGroupNonUniformSMax, IR_GROUP_SMAX},
    {SpvOpGroupIMulKHR, SpvOpGroupNonUniformIMul, IR_GROUP_MUL},
    {SpvOpGroupFMulKHR, SpvOpGroupNonUniformFMul, IR_GROUP_MUL},
    {SpvOpGroupBitwiseAndKHR, SpvOpGroupNonUniformBitwiseAnd, IR_GROUP_AND},
    {SpvOpGroupBitwiseOrKHR, SpvOpGroupNonUniformBitwiseOr, IR_GROUP_OR},
    {SpvOpGroupBitwiseXorKHR, SpvOpGroupNonUniformBitwiseXor, IR_GROUP_XOR},
    {SpvOpGroupLogicalAndKHR, SpvOpGroupNonUniformLogicalAnd, IR_GROUP_AND},
    {SpvOpGroupLogicalOrKHR, SpvOpGroupNonUniformLogicalOr, IR_GROUP_OR},
    {SpvOpGroupLogicalXorKHR, SpvOpGroupNonUniformLogicalXor, IR_GROUP_XOR},
};

const struct reduction *reduction_find(unsigned opcode)
{
    for (size_t k = 0; k < sizeof reductions / sizeof *reductions; k++)
        if (reductions[k].spirv == opcode || reductions[k].non_uniform == opcode) return &reductions[k];
    return NULL;
}
