/* Walking over words that nothing has checked. */
#define SPV_ENABLE_UTILITY_CODE
#include "ir/spirv/base/words.h"

#include <string.h>

/* The header only has its inline form, which C wants in one place as a function too. */
extern inline void SpvHasResultAndType(SpvOp opcode, bool *hasResult, bool *hasResultType);

uint32_t spirv_result(const struct spirv_words *m, const uint32_t *inst, uint32_t *type)
{
    bool has_result, has_type;
    SpvHasResultAndType((SpvOp)(inst[0] & 0xffff), &has_result, &has_type);
    uint32_t place = 1 + has_type, n = inst[0] >> 16;
    *type = has_type && n > 1 ? inst[1] : 0;
    uint32_t id = has_result && n > place ? inst[place] : 0;
    return id < m->bound ? id : 0;
}

bool spirv_is_terminator(unsigned op)
{
    return (op >= SpvOpBranch && op <= SpvOpUnreachable) || op == SpvOpTerminateInvocation;
}

size_t spirv_target(const struct spirv_words *m, const uint32_t *words, size_t at, uint32_t k)
{
    const uint32_t *inst = words + at;
    size_t n = inst[0] >> 16, place = 0;
    switch (inst[0] & 0xffff) {
    case SpvOpBranch: place = k == 0 ? 1 : 0; break;
    case SpvOpBranchConditional: place = k < 2 ? 2 + k : 0; break;
    case SpvOpSwitch: {
        uint32_t selector = n > 1 ? inst[1] : 0, type = selector < m->bound ? m->value_types[selector] : 0;
        const uint32_t *width = type < m->bound ? m->int_types + type : NULL;
        place = 2 + (size_t)k * (width && *width == 64 ? 3 : 2);
        break;
    }
    default: break;
    }
    return place && place < n ? at + place : 0;
}

uint32_t *spirv_grow_by_id(const struct spirv_words *m, const uint32_t *list, size_t more)
{
    uint32_t *grown = arena_alloc(m->arena, (m->bound + more) * sizeof *grown);
    memcpy(grown, list, m->bound * sizeof *grown);
    return grown;
}
