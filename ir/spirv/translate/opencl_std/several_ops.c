/* OpenCL.std: functions of several operations, among them those that give a second result through a pointer. */
#include "ir/spirv/translate/opencl_std/several_ops.h"

#include <spirv/unified1/OpenCL.std.h>

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/opencl_std/build.h"
#include "ir/spirv/translate/values/values.h"

static struct ir_value *operand_at(struct spirv_body *s, const struct spirv_inst *i, uint32_t k)
{
    return spirv_value(s, i, i->words[5 + k]);
}

static void store_second(struct spirv_body *s, const struct spirv_inst *i, uint32_t k, struct ir_value *v)
{
    ir_build2(&s->b, IR_OP_STORE, v->type, operand_at(s, i, k), v);
}

/* The result by one operation, the second one by another, stored through the last operand. */
static void emit_two(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op, enum ir_op second)
{
    struct ir_value *o[2];
    uint32_t n = i->n - 6u;
    for (uint32_t k = 0; k < n && k < 2; k++) o[k] = operand_at(s, i, k);
    if (spirv_failed(s->r)) return;
    ir_type t = o[0]->type;
    struct ir_value *first = spirv_ext_build(s, i, op, t, o, n);
    store_second(s, i, n, spirv_ext_build(s, i, second, t, o, n));
    spirv_set(s, i, first);
}

/* x - |fraction|: the whole part of x, and of the fraction's remainder the floor. */
static void emit_fract(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *x = operand_at(s, i, 0);
    if (spirv_failed(s->r)) return;
    struct ir_value *r = spirv_ext_build(s, i, IR_OP_FRACT, x->type, &x, 1);
    store_second(s, i, 1, spirv_ext_build(s, i, IR_OP_FLOOR, x->type, &x, 1));
    spirv_set(s, i, r);
}

static void emit_reciprocal(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *x = operand_at(s, i, 0);
    struct ir_value *o[2] = {ir_const_float(s->r->module, x->type, 1), x};
    spirv_set(s, i, spirv_ext_build(s, i, IR_OP_FDIV, x->type, o, 2));
}

/* (high << width) | low, twice as wide. */
static void emit_upsample(struct spirv_body *s, const struct spirv_inst *i, enum ir_op extend)
{
    ir_type t = spirv_result_type(s->r, i);
    struct ir_value *high = ir_build1(&s->b, extend, t, operand_at(s, i, 0));
    struct ir_value *low = ir_build1(&s->b, IR_OP_ZEXT, t, operand_at(s, i, 1));
    struct ir_value *up = ir_build2(&s->b, IR_OP_SHL, t, high, spirv_int(s, t, ir_type_bits(t) / 2));
    spirv_set(s, i, ir_build2(&s->b, IR_OP_OR, t, up, low));
}

/* select(a, b, c): of vectors by c's top bit, of scalars by c being not 0. */
static void emit_select(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *a = operand_at(s, i, 0), *b = operand_at(s, i, 1), *c = operand_at(s, i, 2);
    if (spirv_failed(s->r)) return;
    bool vector = ir_type_is_vector(c->type);
    struct ir_value *is = ir_build2(&s->b, vector ? IR_OP_SLT : IR_OP_INE, c->type, c, spirv_int(s, c->type, 0));
    spirv_set(s, i, ir_build3(&s->b, IR_OP_SELECT, a->type, is, b, a));
}

static void emit_prefetch(struct spirv_body *s, const struct spirv_inst *i)
{
    uint32_t pointee = spirv_pointee(s->r, spirv_type_of(s->r, i->words[5]));
    ir_type t = spirv_type(s->r, i, pointee);
    struct ir_value *p = operand_at(s, i, 0), *n = operand_at(s, i, 1);
    if (!spirv_failed(s->r)) ir_build2(&s->b, IR_OP_PREFETCH, t, p, n);
}

bool spirv_ext_special(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->words[4]) {
    case OpenCLstd_Fract: emit_fract(s, i); return true;
    case OpenCLstd_Frexp: emit_two(s, i, IR_OP_FREXP_MANT, IR_OP_FREXP_EXP); return true;
    case OpenCLstd_Lgamma_r: emit_two(s, i, IR_OP_LGAMMA, IR_OP_LGAMMA_SIGN); return true;
    case OpenCLstd_Modf: emit_two(s, i, IR_OP_MODF_FRACT, IR_OP_TRUNC); return true;
    case OpenCLstd_Remquo: emit_two(s, i, IR_OP_REMAINDER, IR_OP_REMQUO_QUO); return true;
    case OpenCLstd_Sincos: emit_two(s, i, IR_OP_SIN, IR_OP_COS); return true;
    case OpenCLstd_Half_recip:
    case OpenCLstd_Native_recip: emit_reciprocal(s, i); return true;
    case OpenCLstd_U_Upsample: emit_upsample(s, i, IR_OP_ZEXT); return true;
    case OpenCLstd_S_Upsample: emit_upsample(s, i, IR_OP_SEXT); return true;
    case OpenCLstd_UAbs: spirv_set(s, i, operand_at(s, i, 0)); return true;
    case OpenCLstd_Select: emit_select(s, i); return true;
    case OpenCLstd_Prefetch: emit_prefetch(s, i); return true;
    default: return false;
    }
}
