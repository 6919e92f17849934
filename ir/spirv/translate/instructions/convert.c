/* Conversions of numbers and of pointers. */
#include "ir/spirv/translate/instructions/convert.h"

#include "ir/spirv/decode/decorations.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/simple_ops.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/values/access.h"
#include "ir/spirv/translate/values/values.h"

static uint8_t rounding_of(const struct spirv_body *s, uint32_t id)
{
    static const uint8_t roundings[] = {IR_ROUND_RTE, IR_ROUND_RTZ, IR_ROUND_RTP, IR_ROUND_RTN};
    const uint32_t *mode = spirv_decoration(s->r, id, SpvDecorationFPRoundingMode, NULL);
    return mode && mode[0] < 4 ? roundings[mode[0]] : IR_ROUND_DEFAULT;
}

static void emit_number(struct spirv_body *s, const struct spirv_inst *i)
{
    ir_type t = spirv_result_type(s->r, i);
    struct ir_value *x = spirv_value(s, i, i->words[3]);
    bool saturated = spirv_decoration(s->r, i->id, SpvDecorationSaturatedConversion, NULL) != NULL;
    enum ir_op op;
    ir_type same;
    if (spirv_failed(s->r)) return;
    if (saturated && (i->op == SpvOpUConvert || i->op == SpvOpSConvert)) {
        op = i->op == SpvOpUConvert ? IR_OP_USAT : IR_OP_SSAT;
    } else if (!spirv_simple(i->op, t, &x, 1, &op, &same)) { /* to its own width */
        spirv_set(s, i, x);
        return;
    }
    struct ir_inst *inst = ir_build(&s->b, op, t, &x, 1);
    if (i->op == SpvOpConvertFToS || i->op == SpvOpConvertFToU) {
        inst->attrs.saturate = saturated;
        inst->attrs.rounding = rounding_of(s, i->id);
        if (inst->attrs.rounding == IR_ROUND_RTZ) inst->attrs.rounding = IR_ROUND_DEFAULT;
    } else if (i->op == SpvOpConvertSToF || i->op == SpvOpConvertUToF || i->op == SpvOpFConvert) {
        inst->attrs.rounding = rounding_of(s, i->id);
        if (inst->attrs.rounding == IR_ROUND_RTE) inst->attrs.rounding = IR_ROUND_DEFAULT;
    }
    spirv_set(s, i, inst->results[0]);
}

static struct ir_value *space_cast(struct spirv_body *s, const struct spirv_inst *i, struct ir_value *p,
                                   enum ir_space to)
{
    enum ir_space from = ir_type_space(p->type);
    if (from == to) return p;
    if (from == IR_SPACE_CONSTANT || to == IR_SPACE_CONSTANT ||
        (from == IR_SPACE_GENERIC) == (to == IR_SPACE_GENERIC)) {
        spirv_fail(s->r, i, "changes the storage class of a pointer, neither from nor to Generic");
        return p;
    }
    return ir_build_ptr(&s->b, IR_OP_SPACECAST, IR_VOID, to, &p, 1)->results[0];
}

static void emit_bitcast(struct spirv_body *s, const struct spirv_inst *i)
{
    if (spirv_is_handle_variable(s->r, i->words[3])) return; /* has no address: what needs one finds none */
    ir_type t = spirv_result_type(s->r, i);
    struct ir_value *x = spirv_value(s, i, i->words[3]);
    bool from_pointer = ir_type_is_ptr(x->type), to_pointer = ir_type_is_ptr(t);
    if (spirv_failed(s->r)) return;
    if (from_pointer && to_pointer) {
        spirv_set(s, i, space_cast(s, i, x, ir_type_space(t)));
    } else if (from_pointer) {
        if (ir_type_is_vector(t) || !ir_type_is_int(t)) {
            spirv_fail(s->r, i, "makes a vector or a float of a pointer");
            return;
        }
        spirv_set(s, i, ir_build1(&s->b, IR_OP_PTRTOINT, t, x));
    } else if (to_pointer) {
        if (ir_type_is_vector(x->type) || !ir_type_is_int(x->type)) {
            spirv_fail(s->r, i, "makes a pointer of a vector or a float");
            return;
        }
        spirv_set(s, i, ir_build_ptr(&s->b, IR_OP_INTTOPTR, IR_VOID, ir_type_space(t), &x, 1)->results[0]);
    } else if (x->type == t) {
        spirv_set(s, i, x);
    } else {
        spirv_set(s, i, ir_build1(&s->b, IR_OP_BITCAST, t, x));
    }
}

/* The bits of memory semantics for where a generic pointer points: none for private memory. */
static void emit_semantics(struct spirv_body *s, const struct spirv_inst *i)
{
    static const struct {
        enum ir_space space;
        uint32_t bit;
    } rows[] = {{IR_SPACE_LOCAL, SpvMemorySemanticsWorkgroupMemoryMask},
                {IR_SPACE_GLOBAL, SpvMemorySemanticsCrossWorkgroupMemoryMask}};
    struct ir_value *p = spirv_value(s, i, i->words[3]), *all = NULL, *zero = spirv_int(s, IR_I32, 0);
    if (spirv_failed(s->r)) return;
    for (int k = 0; k < 2; k++) {
        struct ir_value *cast = space_cast(s, i, p, rows[k].space);
        struct ir_value *null = ir_const_int(s->r->module, cast->type, 0);
        struct ir_value *is = ir_build2(&s->b, IR_OP_INE, cast->type, cast, null);
        struct ir_value *bit = ir_build3(&s->b, IR_OP_SELECT, IR_I32, is, spirv_int(s, IR_I32, rows[k].bit), zero);
        all = all ? ir_build2(&s->b, IR_OP_OR, IR_I32, all, bit) : bit;
    }
    spirv_set(s, i, spirv_as_int(s, all, spirv_result_type(s->r, i)));
}

bool spirv_emit_convert(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpConvertFToU:
    case SpvOpConvertFToS:
    case SpvOpConvertSToF:
    case SpvOpConvertUToF:
    case SpvOpUConvert:
    case SpvOpSConvert:
    case SpvOpFConvert:
    case SpvOpSatConvertSToU:
    case SpvOpSatConvertUToS: emit_number(s, i); return true;
    case SpvOpBitcast:
    case SpvOpConvertPtrToU:
    case SpvOpConvertUToPtr: emit_bitcast(s, i); return true;
    case SpvOpPtrCastToGeneric:
    case SpvOpGenericCastToPtr:
    case SpvOpGenericCastToPtrExplicit:
    case SpvOpPtrCastToCrossWorkgroupINTEL:
    case SpvOpCrossWorkgroupCastToPtrINTEL: {
        struct ir_value *p = spirv_value(s, i, i->words[3]);
        if (!spirv_failed(s->r)) spirv_set(s, i, space_cast(s, i, p, ir_type_space(spirv_result_type(s->r, i))));
        return true;
    }
    case SpvOpGenericPtrMemSemantics: emit_semantics(s, i); return true;
    case SpvOpCopyObject:
    case SpvOpCopyLogical: {
        struct ir_value *const *values = spirv_values(s, i, i->words[3]);
        if (spirv_leaves(s->r, i->type)) spirv_set_all(s, i->id, values);
        return true;
    }
    default: return false;
    }
}
