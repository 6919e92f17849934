/* Conversions that say how to round or saturate, and the same bits as another type. */
#include "fuser/spirv/numbers/convert.h"

#include <math.h>
#include <spirv/unified1/spirv.h>

#include "fuser/spirv/base/bits.h"
#include "fuser/spirv/numbers/notation.h"
#include "fuser/spirv/numbers/operation.h"

/* ---- rounding and saturation ---- */

bool spw_is_conversion(const struct ir_inst *inst)
{
    return inst->op >= IR_OP_FPCONV && inst->op <= IR_OP_UTOF;
}

static bool rounds_to(const struct ir_inst *inst)
{
    bool to_int = inst->op == IR_OP_FTOS || inst->op == IR_OP_FTOU;
    return inst->attrs.rounding != IR_ROUND_DEFAULT && inst->attrs.rounding != (to_int ? IR_ROUND_RTZ : IR_ROUND_RTE);
}

/* The kernel dialect has both as decorations. */
static value decorated(struct spw *w, const struct ir_inst *inst, enum ir_kind kind, value x)
{
    static const uint32_t modes[IR_ROUND_COUNT] = {
        [IR_ROUND_RTE] = SpvFPRoundingModeRTE,
        [IR_ROUND_RTZ] = SpvFPRoundingModeRTZ,
        [IR_ROUND_RTP] = SpvFPRoundingModeRTP,
        [IR_ROUND_RTN] = SpvFPRoundingModeRTN,
    };
    value r = spw_native(w, inst->op, kind, 1, &x);
    uint32_t id = (uint32_t)r.bits;
    if (inst->attrs.saturate) spw_decorate(&w->m, id, SpvDecorationSaturatedConversion, NULL, 0);
    if (inst->attrs.rounding) spw_decorate(&w->m, id, SpvDecorationFPRoundingMode, &modes[inst->attrs.rounding], 1);
    return r;
}

/* A float rounded to nearest becomes what another rounding gives: where it lies beyond the exact number on the wrong
   side it is its neighbour. */
static value rounded_otherwise(const struct formula *f, enum ir_rounding rounding, value r, value above, value below)
{
    enum ir_kind kind = r.kind;
    value up = OP2(NEXTAFTER, r, C(INFINITY)), down = OP2(NEXTAFTER, r, C(-INFINITY));
    value negative = IS1(SIGNBIT, r);
    switch (rounding) {
    case IR_ROUND_RTP: return SELECT(below, up, r);
    case IR_ROUND_RTN: return SELECT(above, down, r);
    default: return SELECT(negative, SELECT(below, up, r), SELECT(above, down, r));
    }
}

static value narrowed(const struct formula *f, enum ir_rounding rounding, enum ir_kind kind, value x)
{
    value r = OP1(FPCONV, x), back = AS(x.kind, r);
    return rounded_otherwise(f, rounding, r, IS2(FOGT, back, x), IS2(FOLT, back, x));
}

/* An integer's nearest float may be 2^63 or 2^64, which is more than any. */
static value from_integer(const struct formula *f, const struct ir_inst *inst, enum ir_kind kind, value x)
{
    bool is_signed = inst->op == IR_OP_STOF;
    value r = is_signed ? OP1(STOF, x) : OP1(UTOF, x);
    double top = ldexp(1, (int)spw_bits(x.kind) - is_signed);
    if (kind == IR_KIND_F16) top = spw_bits(x.kind) > 16 ? INFINITY : top;
    value beyond = IS2(FOGE, r, C(top)), safe = SELECT(beyond, C(0), r);
    enum ir_kind to = kind;
    kind = x.kind;
    value back = is_signed ? OP1(FTOS, safe) : OP1(FTOU, safe);
    kind = to;
    value above = is_signed ? IS2(SGT, back, x) : IS2(UGT, back, x);
    value below = is_signed ? IS2(SLT, back, x) : IS2(ULT, back, x);
    value within = IS1(NOT, beyond);
    return rounded_otherwise(f, inst->attrs.rounding, r, IS2(OR, beyond, above), IS2(AND, within, below));
}

/* Cut to what the integer can hold; NaN gives 0. */
static value to_integer(const struct formula *f, const struct ir_inst *inst, enum ir_kind kind, value x)
{
    bool is_signed = inst->op == IR_OP_FTOS;
    enum ir_kind target = kind;
    if (x.kind == IR_KIND_F16) x = AS(IR_KIND_F32, x);
    kind = x.kind;
    if (inst->attrs.rounding == IR_ROUND_RTE) x = OP1(RINT, x);
    if (inst->attrs.rounding == IR_ROUND_RTP) x = OP1(CEIL, x);
    if (inst->attrs.rounding == IR_ROUND_RTN) x = OP1(FLOOR, x);
    unsigned bits = spw_bits(target);
    value top = C(ldexp(1, (int)bits - is_signed)), low = C(is_signed ? -ldexp(1, (int)bits - 1) : 0);
    value fits = IS2(AND, IS2(FOGE, x, low), IS2(FOLT, x, top));
    value safe = inst->attrs.saturate ? SELECT(fits, x, C(0)) : x, over = IS2(FOGE, x, top), under = IS2(FOLT, x, low);
    kind = target;
    value r = spw_native(f->user, inst->op, kind, 1, &safe);
    if (!inst->attrs.saturate) return r;
    uint64_t ones = ~0ull >> (64 - bits);
    r = SELECT(over, K(is_signed ? ones >> 1 : ones), r);
    return SELECT(under, K(is_signed ? 1ull << (bits - 1) : 0), r);
}

value spw_convert(struct spw *w, const struct ir_inst *inst, value x)
{
    const struct formula *f = &w->formula;
    enum ir_kind kind = ir_type_kind(inst->type);
    if (!w->vulkan) return decorated(w, inst, kind, x);
    if (inst->op == IR_OP_FTOS || inst->op == IR_OP_FTOU) return to_integer(f, inst, kind, x);
    if (!rounds_to(inst)) return spw_compute(f, inst->op, kind, 1, &x);
    return inst->op == IR_OP_FPCONV ? narrowed(f, inst->attrs.rounding, kind, x) : from_integer(f, inst, kind, x);
}

/* ---- the same bits ---- */

/* Scalars side by side: as integers, glued or cut where their widths differ. */
static void reinterpret_scalars(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *x = inst->operands[0];
    enum ir_kind from = ir_type_kind(x->type), to = ir_type_kind(inst->type);
    unsigned n = ir_type_lanes(x->type), m = ir_type_lanes(inst->type), a = spw_bits(from), b = spw_bits(to);
    uint32_t pieces[IR_MAX_LANES], parts[IR_MAX_LANES], type = spw_part_type(w, inst->type);
    if (from == IR_KIND_BOOL || to == IR_KIND_BOOL) {
        spw_fail(w, "of bools cannot be written");
        return;
    }
    uint32_t whole = spw_number_type(w, spw_int_kind(from), 1);
    for (unsigned i = 0; i < n; i++) pieces[i] = spw_bitcast(w, whole, from, spw_int_kind(from), spw_value(w, x)[i]);
    for (unsigned i = 0; a < b && i < m; i++) parts[i] = spw_glue(w, a, pieces + i * (b / a), b / a);
    for (unsigned i = 0; a >= b && i < n; i++) spw_cut(w, b, pieces[i], a / b, parts + i * (a / b));
    for (unsigned i = 0; i < m; i++) parts[i] = spw_bitcast(w, type, spw_int_kind(to), to, parts[i]);
    spw_set(w, inst->results[0], parts);
}

static void reinterpret(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *x = inst->operands[0];
    if (x->type == inst->type) {
        spw_set(w, inst->results[0], spw_value(w, x));
    } else if (w->vulkan) {
        reinterpret_scalars(w, inst);
    } else {
        spw_set1(w, inst->results[0], SPW_EMIT(w, SpvOpBitcast, spw_part_type(w, inst->type), spw_value1(w, x)));
    }
}

/* ---- pointers ---- */

static bool is_offset(ir_type t)
{
    return ir_type_space(t) == IR_SPACE_LOCAL || ir_type_space(t) == IR_SPACE_PRIVATE;
}

static uint32_t resized(struct spw *w, unsigned from, unsigned to, uint32_t x)
{
    return from == to ? x : SPW_EMIT(w, SpvOpUConvert, spw_type_int(&w->m, to, 1), x);
}

static uint32_t as_number(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *p = inst->operands[0];
    if (!w->vulkan) return SPW_EMIT(w, SpvOpConvertPtrToU, spw_part_type(w, inst->type), spw_value1(w, p));
    return resized(w, is_offset(p->type) ? 32 : 64, ir_type_bits(inst->type), spw_value1(w, p));
}

static uint32_t as_pointer(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *x = inst->operands[0];
    ir_type t = inst->results[0]->type;
    if (!w->vulkan) return SPW_EMIT(w, SpvOpConvertUToPtr, spw_part_type(w, t), spw_value1(w, x));
    return resized(w, ir_type_bits(x->type), is_offset(t) ? 32 : 64, spw_value1(w, x));
}

static uint32_t kernel_space_cast(struct spw *w, const struct ir_inst *inst, ir_type from, ir_type to)
{
    static const uint32_t storages[IR_SPACE_COUNT] = {[IR_SPACE_PRIVATE] = SpvStorageClassFunction,
                                                      [IR_SPACE_GLOBAL] = SpvStorageClassCrossWorkgroup,
                                                      [IR_SPACE_LOCAL] = SpvStorageClassWorkgroup};
    uint32_t x = spw_value1(w, inst->operands[0]), type = spw_part_type(w, to);
    spw_capability(&w->m, SpvCapabilityGenericPointer);
    if (ir_type_space(to) == IR_SPACE_GENERIC) return SPW_EMIT(w, SpvOpPtrCastToGeneric, type, x);
    (void)from;
    return SPW_EMIT(w, SpvOpGenericCastToPtrExplicit, type, x, storages[ir_type_space(to)]);
}

/* A generic pointer has its memory in the top two bits: 0 global, 1 local, 2 private. Casts to memory that it does not
   point into give the null pointer. */
static uint32_t vulkan_space_cast(struct spw *w, const struct ir_inst *inst, ir_type from, ir_type to)
{
    const struct formula *f = &w->formula;
    enum ir_kind kind = IR_KIND_I64;
    enum ir_space space = ir_type_space(is_offset(from) ? from : to);
    uint64_t tag = space == IR_SPACE_LOCAL ? 1 : space == IR_SPACE_PRIVATE ? 2 : 0;
    value x = {is_offset(from) ? IR_KIND_I32 : IR_KIND_I64, spw_value1(w, inst->operands[0]), NULL};
    w->lanes = 1;
    if (is_offset(from)) {
        value null = IS2(IEQ, x, I(-1));
        return (uint32_t)SELECT(null, K(0), OP2(OR, OP1(ZEXT, x), K(tag << 62))).bits;
    }
    if (ir_type_space(to) == IR_SPACE_GENERIC) return (uint32_t)x.bits;
    value here = IS2(IEQ, OP2(LSHR, x, K(62)), K(tag));
    if (!is_offset(to)) return (uint32_t)SELECT(here, x, K(0)).bits;
    return (uint32_t)SELECT(here, INT1(ITRUNC, x), I(-1)).bits;
}

bool spw_reinterpret(struct spw *w, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_BITCAST: reinterpret(w, inst); return true;
    case IR_OP_PTRTOINT: spw_set1(w, inst->results[0], as_number(w, inst)); return true;
    case IR_OP_INTTOPTR: spw_set1(w, inst->results[0], as_pointer(w, inst)); return true;
    case IR_OP_SPACECAST: {
        ir_type from = inst->operands[0]->type, to = inst->results[0]->type;
        uint32_t r = from == to  ? spw_value1(w, inst->operands[0])
                     : w->vulkan ? vulkan_space_cast(w, inst, from, to)
                                 : kernel_space_cast(w, inst, from, to);
        spw_set1(w, inst->results[0], r);
        return true;
    }
    default: return false;
    }
}
