/* OpenCL.std: vloadn, vstoren and their relatives for halves. */
#include "ir/spirv/translate/opencl_std/vector_memory.h"

#include <spirv/unified1/OpenCL.std.h>

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/values/values.h"

static struct ir_value *operand_at(struct spirv_body *s, const struct spirv_inst *i, uint32_t k)
{
    return spirv_value(s, i, i->words[5 + k]);
}

/* The address of vector number `offset`: lanes elements for each, 4 for a vector of 3 in the aligned forms. */
static struct ir_value *vector_address(struct spirv_body *s, struct ir_value *p, struct ir_value *offset,
                                       ir_type element, unsigned lanes, bool aligned)
{
    if (aligned && lanes == 3) lanes = 4;
    offset = spirv_as_int(s, offset, IR_I64);
    if (lanes > 1) offset = ir_build2(&s->b, IR_OP_MUL, IR_I64, offset, spirv_int(s, IR_I64, lanes));
    return ir_build2(&s->b, IR_OP_ELEM, element, p, offset);
}

/* Vectors in memory need only their elements' alignment. */
static void set_align(struct spirv_body *s, struct ir_inst *inst, ir_type t, bool aligned)
{
    uint32_t own = ir_type_align(s->r->module, t), element = ir_type_align(s->r->module, ir_type_element(t));
    if (!aligned && element < own) inst->attrs.align = element;
}

static struct ir_value *load_vector(struct spirv_body *s, ir_type t, struct ir_value *p, bool aligned)
{
    struct ir_inst *inst = ir_build(&s->b, IR_OP_LOAD, t, &p, 1);
    set_align(s, inst, t, aligned);
    return inst->results[0];
}

static void emit_load(struct spirv_body *s, const struct spirv_inst *i, bool half, bool aligned)
{
    ir_type t = spirv_result_type(s->r, i), in_memory = half ? ir_type_with_lanes(IR_F16, ir_type_lanes(t)) : t;
    struct ir_value *offset = operand_at(s, i, 0), *p = operand_at(s, i, 1);
    if (spirv_failed(s->r)) return;
    p = vector_address(s, p, offset, ir_type_element(in_memory), ir_type_lanes(t), aligned);
    struct ir_value *v = load_vector(s, in_memory, p, aligned);
    spirv_set(s, i, in_memory == t ? v : ir_build1(&s->b, IR_OP_FPCONV, t, v));
}

static void emit_store(struct spirv_body *s, const struct spirv_inst *i, bool half, bool aligned, bool rounded)
{
    static const uint8_t roundings[] = {IR_ROUND_DEFAULT, IR_ROUND_RTZ, IR_ROUND_RTP, IR_ROUND_RTN};
    struct ir_value *v = operand_at(s, i, 0), *offset = operand_at(s, i, 1), *p = operand_at(s, i, 2);
    if (spirv_failed(s->r)) return;
    ir_type t = half ? ir_type_with_lanes(IR_F16, ir_type_lanes(v->type)) : v->type;
    if (t != v->type) {
        struct ir_inst *convert = ir_build(&s->b, IR_OP_FPCONV, t, &v, 1);
        if (rounded && i->words[8] < 4) convert->attrs.rounding = roundings[i->words[8]];
        v = convert->results[0];
    }
    p = vector_address(s, p, offset, ir_type_element(t), ir_type_lanes(t), aligned);
    set_align(s, ir_build(&s->b, IR_OP_STORE, t, (struct ir_value *[]){p, v}, 2), t, aligned);
}

bool spirv_ext_data(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->words[4]) {
    case OpenCLstd_Vloadn: emit_load(s, i, false, false); return true;
    case OpenCLstd_Vload_half:
    case OpenCLstd_Vload_halfn: emit_load(s, i, true, false); return true;
    case OpenCLstd_Vloada_halfn: emit_load(s, i, true, true); return true;
    case OpenCLstd_Vstoren: emit_store(s, i, false, false, false); return true;
    case OpenCLstd_Vstore_half:
    case OpenCLstd_Vstore_halfn: emit_store(s, i, true, false, false); return true;
    case OpenCLstd_Vstore_half_r:
    case OpenCLstd_Vstore_halfn_r: emit_store(s, i, true, false, true); return true;
    case OpenCLstd_Vstorea_halfn: emit_store(s, i, true, true, false); return true;
    case OpenCLstd_Vstorea_halfn_r: emit_store(s, i, true, true, true); return true;
    default: return false;
    }
}
