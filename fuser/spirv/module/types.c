/* Types and constants, each of which a module has once. */
#include "fuser/spirv/module/types.h"

#include <spirv/unified1/spirv.h>

unsigned spw_bits(enum ir_kind kind)
{
    return ir_type_bits(IR_TYPE(kind, 1, 0));
}

enum ir_kind spw_int_kind(enum ir_kind kind)
{
    switch (spw_bits(kind)) {
    case 8: return IR_KIND_I8;
    case 16: return IR_KIND_I16;
    case 32: return IR_KIND_I32;
    default: return IR_KIND_I64;
    }
}

/* ---- types ---- */

static uint32_t type(struct spw_module *m, unsigned opcode, const uint32_t *operands, size_t n)
{
    return spw_once(m, SPW_GLOBALS, opcode, 0, operands, n);
}

static uint32_t vector_of(struct spw_module *m, uint32_t element, unsigned lanes)
{
    if (lanes == 1) return element;
    if (lanes > 4) spw_capability(m, SpvCapabilityVector16);
    return type(m, SpvOpTypeVector, (uint32_t[]){element, lanes}, 2);
}

uint32_t spw_type_void(struct spw_module *m)
{
    return type(m, SpvOpTypeVoid, NULL, 0);
}

uint32_t spw_type_bool(struct spw_module *m, unsigned lanes)
{
    return vector_of(m, type(m, SpvOpTypeBool, NULL, 0), lanes);
}

uint32_t spw_type_int(struct spw_module *m, unsigned bits, unsigned lanes)
{
    if (bits == 8) spw_capability(m, SpvCapabilityInt8);
    if (bits == 16) spw_capability(m, SpvCapabilityInt16);
    if (bits == 64) spw_capability(m, SpvCapabilityInt64);
    return vector_of(m, type(m, SpvOpTypeInt, (uint32_t[]){bits, 0}, 2), lanes);
}

uint32_t spw_type_float(struct spw_module *m, unsigned bits, unsigned lanes)
{
    if (bits == 16) spw_capability(m, SpvCapabilityFloat16);
    if (bits == 64) spw_capability(m, SpvCapabilityFloat64);
    return vector_of(m, type(m, SpvOpTypeFloat, (uint32_t[]){bits}, 1), lanes);
}

uint32_t spw_type_number(struct spw_module *m, enum ir_kind kind, unsigned lanes)
{
    if (kind == IR_KIND_BOOL) return spw_type_bool(m, lanes);
    bool is_float = ir_type_is_float(IR_TYPE(kind, 1, 0));
    return (is_float ? spw_type_float : spw_type_int)(m, spw_bits(kind), lanes);
}

uint32_t spw_type_pointer(struct spw_module *m, uint32_t storage, uint32_t pointee)
{
    return type(m, SpvOpTypePointer, (uint32_t[]){storage, pointee}, 2);
}

uint32_t spw_type_array(struct spw_module *m, uint32_t element, uint32_t length)
{
    return type(m, SpvOpTypeArray, (uint32_t[]){element, length}, 2);
}

/* ---- constants ---- */

uint32_t spw_const_composite(struct spw_module *m, uint32_t t, const uint32_t *parts, size_t n)
{
    return spw_once(m, SPW_GLOBALS, SpvOpConstantComposite, t, parts, n);
}

uint32_t spw_const_null(struct spw_module *m, uint32_t t)
{
    return spw_once(m, SPW_GLOBALS, SpvOpConstantNull, t, NULL, 0);
}

static uint32_t scalar(struct spw_module *m, enum ir_kind kind, uint64_t bits)
{
    uint32_t t = spw_type_number(m, kind, 1), words[2] = {(uint32_t)bits, (uint32_t)(bits >> 32)};
    if (kind == IR_KIND_BOOL)
        return spw_once(m, SPW_GLOBALS, bits & 1 ? SpvOpConstantTrue : SpvOpConstantFalse, t, NULL, 0);
    unsigned width = spw_bits(kind);
    if (width < 32) words[0] &= (1u << width) - 1;
    return spw_once(m, SPW_GLOBALS, SpvOpConstant, t, words, width == 64 ? 2 : 1);
}

uint32_t spw_const_number(struct spw_module *m, enum ir_kind kind, unsigned lanes, uint64_t bits)
{
    uint32_t one = scalar(m, kind, bits), all[IR_MAX_LANES];
    if (lanes == 1) return one;
    for (unsigned i = 0; i < lanes; i++) all[i] = one;
    return spw_const_composite(m, spw_type_number(m, kind, lanes), all, lanes);
}

uint32_t spw_const_u32(struct spw_module *m, uint32_t v)
{
    return scalar(m, IR_KIND_I32, v);
}

uint32_t spw_const_u64(struct spw_module *m, uint64_t v)
{
    return scalar(m, IR_KIND_I64, v);
}

bool spw_number_of(const struct spw_module *m, uint32_t id, uint64_t *bits)
{
    const struct spw_words *globals = &m->sections[SPW_GLOBALS];
    for (size_t i = 0; i < globals->n; i += globals->words[i] >> 16) {
        const uint32_t *words = globals->words + i;
        if ((words[0] & 0xffff) != SpvOpConstant || words[2] != id) continue;
        *bits = words[3] | (words[0] >> 16 == 5 ? (uint64_t)words[4] << 32 : 0);
        return true;
    }
    return false;
}
