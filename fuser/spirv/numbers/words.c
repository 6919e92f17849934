/* Scalars as words of 32 bits, and two of them as one. */
#include "fuser/spirv/numbers/words.h"

#include <math.h>
#include <spirv/unified1/spirv.h>

#include "fuser/spirv/base/bits.h"
#include "fuser/spirv/numbers/operation.h"
#include "ir/core/float.h"

typedef struct formula_value value;

static unsigned bits_of(const struct spw *w, ir_type t)
{
    if (!ir_type_is_ptr(t)) return spw_bits(ir_type_kind(t));
    bool offset = ir_type_space(t) == IR_SPACE_LOCAL || ir_type_space(t) == IR_SPACE_PRIVATE;
    return w->vulkan && offset ? 32 : 64;
}

unsigned spw_to_words(struct spw *w, ir_type t, uint32_t x, uint32_t words[2])
{
    uint32_t type = spw_type_int(&w->m, 32, 1);
    unsigned bits = bits_of(w, t);
    enum ir_kind kind = ir_type_kind(t);
    if (kind == IR_KIND_BOOL) {
        words[0] = SPW_EMIT(w, SpvOpSelect, type, x, spw_const_u32(&w->m, 1), spw_const_u32(&w->m, 0));
        return 1;
    }
    if (!w->vulkan && ir_type_is_ptr(t)) x = SPW_EMIT(w, SpvOpConvertPtrToU, spw_type_int(&w->m, 64, 1), x);
    if (ir_type_is_float(t)) x = spw_bitcast(w, spw_type_int(&w->m, bits, 1), kind, spw_int_kind(kind), x);
    if (bits == 64) {
        spw_cut(w, 32, x, 2, words);
        return 2;
    }
    words[0] = bits < 32 ? SPW_EMIT(w, SpvOpUConvert, type, x) : x;
    return 1;
}

uint32_t spw_from_words(struct spw *w, ir_type t, const uint32_t *words)
{
    unsigned bits = bits_of(w, t);
    enum ir_kind kind = ir_type_kind(t);
    if (kind == IR_KIND_BOOL)
        return SPW_EMIT(w, SpvOpINotEqual, spw_type_bool(&w->m, 1), words[0], spw_const_u32(&w->m, 0));
    uint32_t x = bits == 64 ? spw_glue(w, 32, words, 2) : words[0];
    if (bits < 32) x = SPW_EMIT(w, SpvOpUConvert, spw_type_int(&w->m, bits, 1), x);
    if (!w->vulkan && ir_type_is_ptr(t)) return SPW_EMIT(w, SpvOpConvertUToPtr, spw_part_type(w, t), x);
    return ir_type_is_float(t) ? spw_bitcast(w, spw_part_type(w, t), spw_int_kind(kind), kind, x) : x;
}

uint32_t spw_combined(struct spw *w, ir_type t, enum ir_group_op op, uint32_t x, uint32_t y)
{
    static const enum ir_op ints[] = {
        [IR_GROUP_ADD] = IR_OP_ADD,   [IR_GROUP_MUL] = IR_OP_MUL,   [IR_GROUP_SMIN] = IR_OP_SMIN,
        [IR_GROUP_UMIN] = IR_OP_UMIN, [IR_GROUP_SMAX] = IR_OP_SMAX, [IR_GROUP_UMAX] = IR_OP_UMAX,
        [IR_GROUP_AND] = IR_OP_AND,   [IR_GROUP_OR] = IR_OP_OR,     [IR_GROUP_XOR] = IR_OP_XOR};
    static const enum ir_op floats[IR_GROUP_OP_COUNT] = {[IR_GROUP_ADD] = IR_OP_FADD,
                                                         [IR_GROUP_MUL] = IR_OP_FMUL,
                                                         [IR_GROUP_SMIN] = IR_OP_FMIN,
                                                         [IR_GROUP_SMAX] = IR_OP_FMAX};
    enum ir_kind kind = ir_type_kind(t);
    w->lanes = 1;
    value in[2] = {{kind, x, NULL}, {kind, y, NULL}};
    return (uint32_t)spw_compute(&w->formula, (ir_type_is_float(t) ? floats : ints)[op], kind, 2, in).bits;
}

uint32_t spw_identity(struct spw *w, ir_type t, enum ir_group_op op)
{
    enum ir_kind kind = ir_type_kind(t);
    uint64_t ones = ~0ull >> (64 - spw_bits(kind)), bits = 0;
    bool real = ir_type_is_float(t);
    switch (op) {
    case IR_GROUP_MUL: bits = real ? ir_float_bits(kind, 1) : 1; break;
    case IR_GROUP_SMIN: bits = real ? ir_float_bits(kind, INFINITY) : ones >> 1; break;
    case IR_GROUP_SMAX: bits = real ? ir_float_bits(kind, -INFINITY) : (ones >> 1) + 1; break;
    case IR_GROUP_UMIN:
    case IR_GROUP_AND: bits = ones; break;
    default: break;
    }
    return spw_constant(w, kind, 1, bits);
}
