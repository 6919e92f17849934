/*
 * What SPIRV-Tools' validator takes for granted of the operands of OpenCL.std's instructions, and ends the process
 * where it is not so: that they are values, and those that are stored as halves numbers.
 */
#include <spirv/unified1/OpenCL.std.h>
#include <string.h>

#include "ir/spirv/canonicalize/operand_checks.h"

enum { FIRST_OPERAND = 5 };

struct checker {
    struct spirv_words *m;
    uint16_t *ops; /* by id: opcode of what defines it */
    uint32_t std;  /* the imported set */
};

static bool ends_in_literal(uint32_t code)
{
    switch (code) {
    case OpenCLstd_Vloadn:
    case OpenCLstd_Vload_halfn:
    case OpenCLstd_Vloada_halfn:
    case OpenCLstd_Vstore_half_r:
    case OpenCLstd_Vstore_halfn_r:
    case OpenCLstd_Vstorea_halfn_r: return true;
    default: return false;
    }
}

static bool stores_halves(uint32_t code)
{
    return (code >= OpenCLstd_Vstore_half && code <= OpenCLstd_Vstore_halfn_r) || code == OpenCLstd_Vstorea_halfn ||
           code == OpenCLstd_Vstorea_halfn_r;
}

static unsigned type_op(const struct checker *z, uint32_t id)
{
    uint32_t type = id < z->m->bound ? z->m->value_types[id] : 0;
    return type < z->m->bound ? z->ops[type] : SpvOpNop;
}

static bool is_number(unsigned type)
{
    return type == SpvOpTypeInt || type == SpvOpTypeFloat || type == SpvOpTypeVector;
}

static bool check_instruction(struct checker *z, const uint32_t *w, uint32_t n)
{
    if (n < FIRST_OPERAND || w[3] != z->std) return true; /* other sets are for the validator alone */
    uint32_t end = n - (ends_in_literal(w[4]) && n > FIRST_OPERAND);
    for (uint32_t k = FIRST_OPERAND; k < end; k++) {
        unsigned type = type_op(z, w[k]);
        bool good = type >= SpvOpTypeBool && type <= SpvOpTypePipe;
        if (k == FIRST_OPERAND && stores_halves(w[4])) good = is_number(type);
        if (good) continue;
        spirv_fail_module(z->m->findings,
                          "is no valid SPIR-V: operand %u of OpExtInst %u is no value of a type that it can have", w[k],
                          w[4]);
        return false;
    }
    return true;
}

static void find_definitions(struct checker *z)
{
    const uint32_t *words = z->m->words;
    for (size_t at = SPIRV_HEADER_WORDS; at < z->m->n_words; at += words[at] >> 16) {
        const uint32_t *w = words + at;
        uint32_t type, id = spirv_result(z->m, w, &type);
        z->ops[id] = (uint16_t)w[0];
        if ((w[0] & 0xffff) == SpvOpExtInstImport && w[0] >> 16 == 5 && !memcmp(w + 2, "OpenCL.std", 11)) z->std = id;
    }
    z->ops[0] = SpvOpNop;
}

bool spirv_check_operands(struct spirv_words *m)
{
    struct checker z = {.m = m, .ops = arena_alloc(m->arena, (m->bound + 1) * sizeof *z.ops)};
    find_definitions(&z);
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) {
        const uint32_t *w = m->words + at;
        if ((w[0] & 0xffff) == SpvOpExtInst && !check_instruction(&z, w, w[0] >> 16)) return false;
    }
    return true;
}
